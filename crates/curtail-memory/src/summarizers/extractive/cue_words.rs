//! The words and characters that cues are detected by, each list sorted by code point: sixteen languages, and scripts
//! without spaces.

/// First words of names of calls that change something.
#[rustfmt::skip]
pub(super) const MAKES: &[&str] = &[
    "add", "append", "apply", "book", "build", "cancel", "commit", "copy", "cp", "create", "delete", "deploy", "do",
    "edit", "exchange", "execute_update", "file", "insert", "install", "issue", "make", "merge", "mkdir", "modify",
    "move", "multi", "mv", "notebook", "patch", "pay", "post", "publish", "push", "put", "refund", "remove", "rename",
    "replace", "reset", "restore", "return", "rm", "save", "schedule", "send", "set", "str", "submit", "touch",
    "transfer", "undo", "update", "upgrade", "upload", "write",
];

/// First words of names of calls that only read.
#[rustfmt::skip]
pub(super) const LOOKS: &[&str] = &[
    "browse", "calculate", "cat", "check", "count", "describe", "fetch", "find", "get", "glob", "goto", "grep", "head",
    "less", "list", "lookup", "ls", "nl", "open", "pwd", "query", "read", "retrieve", "rg", "scroll", "search", "show",
    "stat", "tail", "think", "tree", "view", "web", "which",
];

/// Wanting, needing, asking, forbidding.
#[rustfmt::skip]
pub(super) const GOALS: &[&str] = &[
    "aim", "alstublieft", "anforderung", "aufgabe", "avoid", "behöver", "benötige", "besoin", "bisogno", "bitte",
    "brauche", "brauchen", "build", "create", "debe", "debemos", "deseo", "devo", "devons", "dobbiamo", "doel",
    "doit", "don't", "dont", "ensure", "exactly", "expect", "expects", "faut", "fix", "gerekiyor", "goal", "goals",
    "gostaria", "graag", "hedef", "help", "hope", "implement", "instead", "issue", "istiyorum", "lazım", "looking",
    "lütfen", "moet", "moeten", "muss", "must", "må", "mål", "måste", "möchte", "möchten", "müssen", "necesitamos",
    "necesito", "need", "needed", "needs", "never", "nodig", "obiettivo", "objectif", "objective", "objetivo", "only",
    "plan", "planning", "please", "precisamos", "preciso", "prefer", "preferisco", "prefers", "purpose", "queremos",
    "quero", "quiero", "require", "required", "requirement", "requires", "serve", "shall", "should", "skal", "soll",
    "sollen", "sollte", "souhaite", "souhaitons", "task", "trying", "veux", "vil", "vill", "voglio", "vorrei",
    "voudrais", "want", "wanted", "wants", "wil", "willen", "wish", "wondering", "wünsche", "ziel", "ziele", "ønsker",
    "должен", "должна", "должны", "задача", "надо", "нужно", "пожалуйста", "просьба", "требуется", "хотим", "хочу",
    "цель", "أحتاج", "أرجو", "أريد", "الرجاء", "الهدف", "مطلوب", "نريد", "هدف", "يجب",
];

/// Deciding, choosing, agreeing.
#[rustfmt::skip]
pub(super) const DECISIONS: &[&str] = &[
    "accord", "acordado", "acordamos", "acordo", "acuerdo", "afgesproken", "agree", "agreed", "agrees", "akkoord",
    "anlaştık", "approve", "approved", "beschließen", "beschlossen", "beslissing", "besloten", "beslutat",
    "beslutning", "besluttet", "bestemt", "bestämt", "choisi", "choose", "chose", "chosen", "combinado", "conclude",
    "concluded", "conclusion", "concordato", "confirm", "confirmed", "consensus", "convenu", "deal", "decide",
    "decided", "decides", "decidiamo", "decidido", "decidimos", "decision", "decisione", "decisions", "decisión",
    "deciso", "decisão", "décider", "décidons", "décidé", "décision", "einigen", "elegido", "enades", "entscheiden",
    "entscheidung", "entschieden", "entschlossen", "escolhido", "gekozen", "gewählt", "karar", "opt", "opted",
    "recommend", "recommended", "resolved", "scelto", "selected", "settle", "settled", "seçtik", "switch",
    "switching", "therefore", "valgt", "verdik", "vereinbart", "выбрали", "договорились", "решение", "решено",
    "решил", "решили", "согласен", "согласны", "اتفقنا", "اخترنا", "قرار", "قررت", "قررنا", "موافق",
];

/// Having made, changed, moved, removed.
#[rustfmt::skip]
pub(super) const CHANGES: &[&str] = &[
    "aangepast", "actualizado", "added", "adds", "adicionado", "aggiornato", "aggiunto", "ajouté", "alterado",
    "angelegt", "apagado", "arreglado", "atualizado", "añadido", "behoben", "booked", "borrado", "built", "cambiado",
    "cambiato", "canceled", "cancelled", "changed", "commit", "committed", "completed", "corregido", "corretto",
    "corrigido", "corrigé", "creado", "created", "creato", "criado", "créé", "delete", "deleted", "deployed",
    "değiştirildi", "done", "düzeltildi", "edited", "eingebaut", "ekledim", "eklendi", "eliminado", "eliminato",
    "entfernt", "erledigt", "ersetzt", "erstellt", "extended", "fertig", "finito", "fixed", "fjernet", "gebaut",
    "gelöscht", "gemaakt", "geschrieben", "gewijzigd", "geändert", "hinzugefügt", "implemented", "inserted",
    "instalado", "installed", "installé", "klaar", "lagt", "merged", "migrated", "modificato", "modified", "modifié",
    "moved", "oluşturuldu", "opgelost", "patched", "pushed", "refactored", "released", "removed", "removido",
    "remplacé", "renamed", "renommé", "replaced", "restored", "reverted", "rewritten", "rewrote", "rimosso", "saved",
    "sent", "silindi", "slettet", "solved", "submitted", "successfully", "supprimé", "terminado", "terminé",
    "tilføjet", "toegevoegd", "umbenannt", "updated", "upgraded", "verschoben", "verwijderd", "working", "works",
    "written", "wrote", "ändrat", "ændret", "готово", "добавил", "добавили", "заменил", "изменил", "исправил",
    "исправлено", "обновил", "создал", "создан", "удалил", "أصلحت", "أضفت", "أضيف", "أنشأت", "تم", "حذفت", "عدلت",
];

/// Failing.
#[rustfmt::skip]
pub(super) const ERRORS: &[&str] = &[
    "abgestürzt", "abort", "aborted", "absturz", "başarısız", "bozuk", "broke", "broken", "bug", "bugs", "bust",
    "can't", "cannot", "cassé", "conflict", "conflicts", "crash", "crashed", "crashes", "critical", "deadlock",
    "defekt", "denied", "erreur", "erreurs", "erro", "error", "errore", "errores", "errori", "errors", "erros",
    "exception", "fail", "failed", "failing", "fails", "failure", "failures", "falha", "falhou", "fallado",
    "fallisce", "fallito", "fallo", "fallos", "falló", "falta", "fatal", "fehler", "fehlerhaft", "fehlgeschlagen",
    "fehlt", "feil", "fejl", "fel", "felaktig", "forbidden", "fout", "fouten", "gescheitert", "guasto", "hang",
    "hangs", "hata", "hatası", "illegal", "imposible", "impossibile", "impossible", "impossível", "incorrect",
    "invalid", "invalide", "inválido", "kapot", "kaputt", "leak", "manca", "manquant", "misconfigured", "mislukt",
    "mislykkedes", "mislyktes", "mismatch", "missing", "misslyckades", "onmogelijk", "ontbreekt", "panic", "panicked",
    "panne", "quebrado", "refused", "regression", "rejected", "roto", "rotto", "segfault", "timed", "timeout",
    "traceback", "trasig", "unable", "unauthorized", "undefined", "unexpected", "unfortunately", "ungültig",
    "unmöglich", "unresolved", "unsupported", "violation", "warning", "wrong", "çöktü", "échec", "échoué", "неверный",
    "невозможно", "неудачно", "ошибка", "ошибки", "ошибку", "сбой", "сломался", "сломано", "упал", "أخطاء", "تعطل",
    "خطأ", "عطل", "فشل", "فشلت", "مستحيل",
];

/// Thanking, greeting, apologizing.
#[rustfmt::skip]
pub(super) const COURTESIES: &[&str] = &[
    "apologies", "apologize", "bedankt", "bonjour", "bye", "cheers", "ciao", "danke", "desculpe", "disculpa", "désolé", "entschuldigung", "gerne", "glad", "goodbye", "gracias", "grazie", "hallo", "hei", "hej", "hello", "hesitate", "hey", "hi", "hoi", "hola", "kiitos", "köszönöm", "merci", "mulțumesc", "obrigada", "obrigado", "olá", "scusa", "sorry", "sure", "tack", "tak", "takk", "teşekkür", "teşekkürler", "thank", "thanks", "tschüss", "welcome", "пожалуйста", "привет", "спасибо", "شكرا", "عفوا", "مرحبا",
];

/// Wanting, in scripts without spaces.
pub(super) const GOAL_SIGNS: &[&str] = &[
    "请",
    "需要",
    "想要",
    "希望",
    "目标",
    "必须",
    "ください",
    "たい",
    "必要",
    "目的",
    "ต้องการ",
    "อยาก",
    "กรุณา",
    "ช่วย",
    "하고 싶",
    "해주세요",
    "해 주세요",
    "필요",
];
/// Deciding, in scripts without spaces.
pub(super) const DECISION_SIGNS: &[&str] =
    &["决定", "同意", "选择", "決定", "決め", "ことにし", "ตัดสินใจ", "ตกลง", "결정", "하기로"];
/// Having changed, in scripts without spaces.
pub(super) const CHANGE_SIGNS: &[&str] = &[
    "修改了",
    "添加了",
    "删除了",
    "已修复",
    "已完成",
    "変更し",
    "追加し",
    "削除し",
    "修正し",
    "แก้ไขแล้ว",
    "เพิ่ม",
    "ลบ",
    "수정했",
    "추가했",
    "삭제했",
];
/// Failing, in scripts without spaces, and symbols of failure.
pub(super) const ERROR_SIGNS: &[&str] =
    &["错误", "失败", "报错", "エラー", "失敗", "例外", "ผิดพลาด", "ล้มเหลว", "오류", "실패", "✗", "❌"];
