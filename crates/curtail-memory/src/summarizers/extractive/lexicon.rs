//! Words: the terms of a text, its language, and the lists of stop words and cues. Every word is stored with the lists that
//! contain it, so that one lookup answers for all.

use std::sync::LazyLock;

use foldhash::HashMap;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// The lists that contain a word, one bit each: the languages' stop words first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists(u32);

/// A list that belongs to no language, in the order of their bits.
#[derive(Clone, Copy)]
pub(super) enum CueList {
    Chat,
    Code,
    Goals,
    Decisions,
    Changes,
    Errors,
    Courtesies,
}

static LISTS: LazyLock<HashMap<&'static str, Lists>> = LazyLock::new(|| {
    let others = [CHAT, CODE, GOALS, DECISIONS, CHANGES, ERRORS, COURTESIES];
    let languages = STOP_WORDS.iter().map(|(_, words)| *words);
    let mut lists: HashMap<&'static str, Lists> = HashMap::default();
    for (bit, words) in languages.chain(others).enumerate() {
        for &word in words {
            lists.entry(word).or_default().0 |= 1 << bit;
        }
    }
    lists
});

impl Lists {
    /// The lists that contain `word`, which is in lower case.
    pub(super) fn containing(word: &str) -> Self {
        LISTS.get(word).copied().unwrap_or_default()
    }

    /// Whether it is a stop word of the language with this number.
    pub(super) const fn stops_in(self, language: usize) -> bool {
        self.0 & (1 << language) != 0
    }

    /// Whether it is in this list.
    pub(super) const fn is_in(self, list: CueList) -> bool {
        self.stops_in(STOP_WORDS.len() + list as usize)
    }

    /// Whether it is a stop word of chats or of code.
    pub(super) const fn stops_everywhere(self) -> bool {
        self.is_in(CueList::Chat) || self.is_in(CueList::Code)
    }

    /// The numbers of the languages that have it among their stop words.
    pub(super) fn languages(self) -> impl Iterator<Item = usize> {
        (0..STOP_WORDS.len()).filter(move |&language| self.stops_in(language))
    }
}

/// `word` in lower case, written into `buffer`; for ASCII without allocating another string.
pub(super) fn lowered<'b>(word: &str, buffer: &'b mut String) -> &'b str {
    buffer.clear();
    if word.is_ascii() {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        buffer.push_str(&word.to_lowercase());
    }
    buffer
}

// The terms of a sentence: its words without the frequent ones, each reduced to its stem. Texts in scripts without spaces
// give pairs of characters instead.

/// Splits texts into terms and numbers the terms in the order of their first occurrence.
pub(super) struct Terms {
    language: Option<Language>,
    stemmer: Option<Stemmer>,
    numbers: HashMap<String, usize>,
    /// The number of the term of each word in lower case; `None` if the word is too frequent.
    known: HashMap<String, Option<usize>>,
    lower: String,
}

impl Terms {
    /// Terms for texts in `language`; `None` if the language is unknown.
    pub(super) fn new(language: Option<Language>) -> Self {
        let stemmer = language.map(|language| Stemmer::create(language.algorithm()));
        let (numbers, known) = (HashMap::default(), HashMap::default());
        Self { language, stemmer, numbers, known, lower: String::new() }
    }

    /// The numbers of the terms in `text`, which contains `words`: in order, each as often as it occurs.
    pub(super) fn terms_in(&mut self, text: &str, words: &[(usize, &str)]) -> Vec<usize> {
        let mut terms = Vec::with_capacity(words.len());
        let mut run = 0..0;
        for &(at, word) in words {
            let unspaced = word.chars().next().is_some_and(is_unspaced);
            if !unspaced || at != run.end {
                self.add_pairs(&text[run], &mut terms);
                run = at..at;
            }
            if unspaced {
                run.end = at + word.len();
            } else {
                terms.extend(self.number_of_word(word));
            }
        }
        self.add_pairs(&text[run], &mut terms);
        terms
    }

    fn add_pairs(&mut self, run: &str, terms: &mut Vec<usize>) {
        let mut found = Vec::new();
        pairs(run, &mut found);
        terms.extend(found.into_iter().map(|pair| self.number(pair)));
    }

    fn number(&mut self, term: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(term).or_insert(next)
    }

    fn number_of_word(&mut self, word: &str) -> Option<usize> {
        let mut lower = std::mem::take(&mut self.lower);
        lowered(word, &mut lower);
        if lower.contains('’') {
            lower = lower.replace('’', "'");
        }
        let number = if let Some(known) = self.known.get(&lower) {
            *known
        } else {
            let number = self.term(&lower).map(|term| self.number(term));
            self.known.insert(lower.clone(), number);
            number
        };
        self.lower = lower;
        number
    }

    /// The term of one word in lower case, unless it is too frequent.
    fn term(&self, word: &str) -> Option<String> {
        let lists = Lists::containing(word);
        let is_frequent = lists.stops_everywhere() || self.language.is_some_and(|language| language.stops(lists));
        let is_letter = word.len() == 1 && !word.bytes().all(|byte| byte.is_ascii_digit());
        if is_frequent || is_letter {
            return None;
        }
        let base = word.strip_suffix("'s").unwrap_or(word);
        Some(match &self.stemmer {
            Some(stemmer) if base.chars().all(char::is_alphabetic) => stemmer.stem(base).into_owned(),
            _ => base.to_owned(),
        })
    }
}

/// Adds the pairs of neighboring characters: words in scripts without spaces have about two characters, and no dictionary is
/// needed (<https://lucene.apache.org/core/9_0_0/analysis/common/org/apache/lucene/analysis/cjk/package-summary.html>).
fn pairs(run: &str, into: &mut Vec<String>) {
    let letters: Vec<&str> = run.graphemes(true).collect();
    match letters.as_slice() {
        [] => {}
        [one] => into.push((*one).to_owned()),
        many => into.extend(many.windows(2).map(<[&str]>::concat).filter(|pair| !is_function_word(pair))),
    }
}

/// Whether a pair of characters is a function word, or part of one, in Japanese or Chinese.
fn is_function_word(pair: &str) -> bool {
    const FUNCTION_WORDS: &[&str] = &[
        "あり", "いま", "から", "くだ", "こと", "この", "さい", "した", "して", "しま", "する", "せん", "その", "たい",
        "ださ", "てい", "てく", "でし", "です", "とい", "ない", "のか", "ので", "まし", "ます", "ませ", "また", "まで",
        "もの", "よう", "れる", "一下", "一个", "什么", "他们", "你的", "可以", "因为", "如果", "就是", "怎么", "我们",
        "我的", "所以", "是不", "没有", "的话", "这个", "这是", "那个",
    ];
    FUNCTION_WORDS.binary_search(&pair).is_ok()
}

/// Whether a character belongs to a script without spaces between words, or is treated so: Han, kana, Hangul, Thai, Lao, Khmer,
/// Myanmar.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

// Detects the language of a text for stemming and stop words. It knows scripts and the most frequent words of seventeen
// languages.

/// The most words that are read to guess the language: enough for a stable share.
const MAX_WORDS: usize = 2_000;

/// The minimum share of a language's most frequent words. Prose in any of the languages has 25 to 50 %; code has some
/// English words by chance.
const LEAST_SHARE: f64 = 0.08;

/// A language that can be stemmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language(usize);

impl Language {
    /// The most likely language of `texts`, if it is a known one.
    pub(super) fn guess<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let (mut words, mut hits, mut lower) = (0_usize, [0_usize; STOP_WORDS.len()], String::new());
        for word in texts.flat_map(UnicodeSegmentation::unicode_words).take(MAX_WORDS) {
            words += 1;
            Lists::containing(lowered(word, &mut lower)).languages().for_each(|language| hits[language] += 1);
        }
        let (best, hits) = hits
            .into_iter()
            .enumerate()
            // The first of equal languages: English, from which code takes its words, is listed before related languages.
            .rev()
            .max_by_key(|&(_, hits)| hits)?;
        // Both are below 2,001.
        #[expect(clippy::cast_precision_loss, reason = "small counts are exact")]
        let share = hits as f64 / words.max(1) as f64;
        (share >= LEAST_SHARE).then_some(Self(best))
    }

    /// The Snowball stemmer of the language.
    fn algorithm(self) -> Algorithm {
        STOP_WORDS[self.0].0
    }

    /// Whether a word of these `lists` is too frequent in the language to be a term.
    pub(super) const fn stops(self, lists: Lists) -> bool {
        lists.stops_in(self.0)
    }
}

// The words and characters by which cues are detected, each list sorted by code point. They cover sixteen languages, and
// scripts without spaces.

/// First words in the names of calls that change something.
#[rustfmt::skip]
pub(super) const CHANGE_VERBS: &[&str] = &[
    "add", "append", "apply", "book", "build", "cancel", "commit", "copy", "cp", "create", "delete", "deploy", "do",
    "edit", "exchange", "execute_update", "file", "insert", "install", "issue", "make", "merge", "mkdir", "modify",
    "move", "multi", "mv", "notebook", "patch", "pay", "post", "publish", "push", "put", "refund", "remove", "rename",
    "replace", "reset", "restore", "return", "rm", "save", "schedule", "send", "set", "str", "submit", "touch",
    "transfer", "undo", "update", "upgrade", "upload", "write",
];

/// First words in the names of calls that only read.
#[rustfmt::skip]
pub(super) const READ_VERBS: &[&str] = &[
    "browse", "calculate", "cat", "check", "count", "describe", "fetch", "find", "get", "glob", "goto", "grep", "head",
    "less", "list", "lookup", "ls", "nl", "open", "pwd", "query", "read", "retrieve", "rg", "scroll", "search", "show",
    "stat", "tail", "think", "tree", "view", "web", "which",
];

/// Wanting, needing, asking, forbidding.
#[rustfmt::skip]
const GOALS: &[&str] = &[
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
const DECISIONS: &[&str] = &[
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
const CHANGES: &[&str] = &[
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
const ERRORS: &[&str] = &[
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
const COURTESIES: &[&str] = &[
    "apologies", "apologize", "bedankt", "bonjour", "bye", "cheers", "ciao", "danke", "desculpe", "disculpa", "désolé", "entschuldigung", "gerne", "glad", "goodbye", "gracias", "grazie", "hallo", "hei", "hej", "hello", "hesitate", "hey", "hi", "hoi", "hola", "kiitos", "köszönöm", "merci", "mulțumesc", "obrigada", "obrigado", "olá", "scusa", "sorry", "sure", "tack", "tak", "takk", "teşekkür", "teşekkürler", "thank", "thanks", "tschüss", "welcome", "пожалуйста", "привет", "спасибо", "شكرا", "عفوا", "مرحبا",
];

/// Wanting, in scripts without spaces.
pub(super) const GOAL_SIGNS: &[&str] = &[
    "请", "需要", "想要", "希望", "目标", "必须", "ください", "たい", "必要", "目的", "ต้องการ", "อยาก", "กรุณา", "ช่วย",
    "하고 싶", "해주세요", "해 주세요", "필요",
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

// The most frequent words of each language, which say nothing about the topic: function words, each list sorted by code
// point. Chats and code have their own lists.

/// Languages with a Snowball stemmer, English first, and their words.
#[rustfmt::skip]
pub(super) const STOP_WORDS: [(Algorithm, &[&str]); 17] = [
    (Algorithm::English, &[
        "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "aren't",
        "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can",
        "can't", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "done", "down",
        "during", "each", "else", "even", "ever", "every", "few", "for", "from", "further", "get", "gets", "getting",
        "go", "goes", "going", "got", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he", "her",
        "here", "here's", "hers", "him", "his", "how", "however", "i", "i'd", "i'll", "i'm", "i've", "if", "in",
        "into", "is", "isn't", "it", "it's", "its", "itself", "just", "let", "let's", "like", "made", "make", "many",
        "may", "me", "might", "more", "most", "much", "must", "my", "myself", "no", "nor", "not", "now", "of", "off",
        "on", "once", "one", "only", "or", "other", "our", "ours", "out", "over", "own", "rather", "really", "same",
        "shall", "she", "should", "shouldn't", "since", "so", "some", "still", "such", "than", "that", "that's",
        "the", "their", "theirs", "them", "then", "there", "there's", "these", "they", "they're", "they've", "thing",
        "things", "this", "those", "though", "through", "to", "too", "under", "until", "up", "upon", "us", "very",
        "was", "wasn't", "we", "we'd", "we'll", "we're", "we've", "well", "were", "weren't", "what", "what's", "when",
        "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "won't",
        "would", "wouldn't", "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself",
    ]),
    (Algorithm::German, &[
        "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander", "andere", "anderem",
        "anderen", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "damit", "dann", "das", "dass",
        "dein", "deine", "dem", "den", "denn", "der", "des", "dich", "die", "dies", "diese", "diesem", "diesen",
        "dieser", "dieses", "dir", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines",
        "er", "es", "euch", "euer", "für", "gegen", "hab", "habe", "haben", "hat", "hatte", "hatten", "hier", "hin",
        "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "in", "indem", "ins",
        "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jetzt", "kann", "kein", "keine", "keinem", "keinen",
        "keiner", "können", "könnte", "man", "mehr", "mein", "meine", "meinem", "meinen", "mich", "mir", "mit",
        "muss", "nach", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "sehr", "sein", "seine",
        "seinem", "seinen", "seiner", "seit", "selbst", "sich", "sie", "sind", "so", "soll", "sollte", "sondern",
        "sonst", "um", "und", "uns", "unser", "unsere", "unter", "vom", "von", "vor", "wann", "war", "waren", "warum",
        "was", "weg", "weil", "weiter", "welche", "welcher", "wenn", "wer", "werde", "werden", "wie", "wieder",
        "will", "wir", "wird", "wo", "wollen", "worden", "wurde", "wurden", "während", "würde", "würden", "zu", "zum",
        "zur", "zwar", "zwischen", "über",
    ]),
    (Algorithm::French, &[
        "ai", "alors", "au", "aucun", "aussi", "autre", "aux", "avant", "avec", "avoir", "avons", "bien", "c'est",
        "car", "ce", "cela", "ces", "cet", "cette", "ceux", "chaque", "chez", "comme", "comment", "d'un", "d'une",
        "dans", "de", "depuis", "des", "dois", "doit", "donc", "du", "déjà", "elle", "elles", "en", "encore", "entre",
        "es", "est", "et", "eu", "eux", "faire", "fait", "fois", "font", "il", "ils", "j'ai", "je", "jusqu", "la",
        "le", "les", "leur", "leurs", "lui", "là", "ma", "mais", "me", "mes", "mieux", "moi", "moins", "mon", "même",
        "n'est", "ne", "ni", "non", "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "parce", "pas", "peu",
        "peut", "plus", "pour", "pourquoi", "pourrait", "puis", "qu'il", "quand", "que", "quel", "quelle", "quelles",
        "quels", "qui", "quoi", "sa", "sans", "se", "sera", "serait", "ses", "si", "soi", "soit", "son", "sont",
        "sous", "sur", "ta", "tes", "toi", "ton", "tous", "tout", "toute", "toutes", "très", "tu", "un", "une",
        "vers", "voici", "vos", "votre", "vous", "y", "à", "étaient", "était", "été", "être",
    ]),
    (Algorithm::Spanish, &[
        "a", "al", "algo", "algunas", "algunos", "ante", "antes", "aquí", "así", "aunque", "cada", "como", "con",
        "contra", "cual", "cuando", "cómo", "de", "del", "desde", "donde", "dos", "durante", "e", "el", "ella",
        "ellas", "ellos", "en", "entre", "era", "eran", "eres", "es", "esa", "esas", "ese", "eso", "esos", "esta",
        "estaba", "estado", "estamos", "estar", "estas", "este", "esto", "estos", "está", "están", "fue", "fueron",
        "ha", "había", "han", "has", "hasta", "hay", "haya", "he", "hemos", "la", "las", "le", "les", "lo", "los",
        "me", "mi", "mis", "mucho", "muchos", "muy", "más", "mí", "nada", "ni", "no", "nos", "nosotros", "nuestra",
        "nuestro", "o", "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por", "porque", "puede",
        "pueden", "pues", "que", "quien", "qué", "se", "sea", "ser", "si", "sido", "sin", "sobre", "solo", "son",
        "su", "sus", "sí", "también", "tan", "tanto", "te", "tener", "tengo", "ti", "tiene", "tienen", "todo",
        "todos", "tu", "tus", "tú", "un", "una", "uno", "unos", "usted", "vosotros", "y", "ya", "yo", "él",
    ]),
    (Algorithm::Italian, &[
        "a", "abbiamo", "agli", "ai", "al", "alla", "alle", "allo", "anche", "ancora", "avere", "aveva", "bene",
        "c'è", "che", "chi", "ci", "come", "con", "cosa", "così", "cui", "da", "dagli", "dai", "dal", "dalla",
        "dalle", "degli", "dei", "del", "dell", "della", "delle", "dello", "deve", "di", "dopo", "dove", "due", "e",
        "ed", "era", "erano", "essere", "fa", "fare", "fatto", "fino", "fra", "già", "gli", "ha", "hanno", "ho", "i",
        "il", "in", "io", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "me", "mi", "mia", "mio", "molto", "ne",
        "negli", "nei", "nel", "nella", "nelle", "noi", "non", "nostra", "nostro", "o", "ogni", "ora", "per",
        "perché", "perciò", "più", "poi", "prima", "può", "quale", "quando", "quanto", "quella", "quelle", "quelli",
        "quello", "questa", "queste", "questi", "questo", "qui", "sarà", "se", "sei", "senza", "si", "sia", "siamo",
        "sono", "sopra", "sta", "stata", "stato", "su", "sua", "sue", "sugli", "sul", "sulla", "sulle", "suo", "suoi",
        "tra", "tu", "tua", "tuo", "tutti", "tutto", "un", "una", "uno", "vi", "voi", "è",
    ]),
    (Algorithm::Portuguese, &[
        "a", "ainda", "ao", "aos", "aquela", "aquele", "aqui", "as", "assim", "até", "cada", "com", "como", "da",
        "das", "de", "dela", "dele", "deles", "depois", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre",
        "era", "eram", "essa", "esse", "esta", "estamos", "estar", "estava", "este", "está", "estão", "eu", "faz",
        "fazer", "foi", "foram", "há", "isso", "isto", "já", "lhe", "mais", "mas", "me", "mesmo", "meu", "meus",
        "minha", "muito", "na", "nas", "nem", "no", "nos", "nossa", "nosso", "num", "numa", "não", "nós", "o", "onde",
        "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "pode", "por", "porque", "porém", "qual", "quando",
        "que", "quem", "se", "seja", "sem", "ser", "será", "seu", "seus", "sim", "sobre", "sou", "sua", "suas", "são",
        "só", "também", "te", "tem", "temos", "tenho", "ter", "teu", "tinha", "todos", "tu", "tudo", "tém", "um",
        "uma", "vai", "você", "vocês", "à", "às", "é",
    ]),
    (Algorithm::Dutch, &[
        "aan", "al", "alles", "als", "altijd", "andere", "ben", "bij", "daar", "dan", "dat", "de", "der", "deze",
        "die", "dit", "doch", "doen", "door", "dus", "een", "eens", "en", "er", "ge", "geen", "geweest", "haar",
        "had", "heb", "hebben", "heeft", "hem", "het", "hier", "hij", "hoe", "hun", "iemand", "iets", "ik", "in",
        "is", "ja", "je", "kan", "kon", "kunnen", "maar", "me", "meer", "men", "met", "mij", "mijn", "moet", "moeten",
        "na", "naar", "niet", "niets", "nog", "nu", "of", "om", "omdat", "ons", "onze", "ook", "op", "over", "reeds",
        "te", "tegen", "toch", "toen", "tot", "u", "uit", "uw", "van", "veel", "voor", "waar", "want", "waren", "was",
        "wat", "we", "wel", "werd", "wezen", "wie", "wij", "wil", "worden", "wordt", "zal", "ze", "zei", "zelf",
        "zich", "zij", "zijn", "zo", "zonder", "zou",
    ]),
    (Algorithm::Swedish, &[
        "alla", "allt", "att", "av", "bara", "behöver", "blev", "bli", "blir", "bra", "de", "dem", "den", "denna",
        "deras", "dess", "det", "detta", "dig", "din", "dina", "ditt", "du", "där", "då", "efter", "ej", "eller",
        "en", "er", "ett", "från", "får", "för", "genom", "gör", "ha", "hade", "han", "har", "hennes", "hon", "honom",
        "hur", "här", "i", "icke", "in", "ingen", "inom", "inte", "jag", "ju", "kan", "kommer", "kunde", "man", "med",
        "mellan", "men", "mer", "mig", "min", "mina", "mitt", "mot", "mycket", "måste", "ni", "nu", "när", "någon",
        "något", "några", "och", "om", "oss", "på", "sedan", "sig", "sin", "sina", "sitt", "ska", "skulle", "som",
        "så", "till", "under", "upp", "ur", "ut", "utan", "vad", "var", "vara", "varit", "varje", "vem", "vi", "vid",
        "vill", "än", "är", "åt", "över",
    ]),
    (Algorithm::Danish, &[
        "ad", "af", "alle", "alt", "anden", "at", "blev", "blive", "bliver", "da", "de", "dem", "den", "denne", "der",
        "deres", "det", "dette", "dig", "din", "disse", "dog", "du", "efter", "eller", "en", "end", "er", "et", "for",
        "fra", "få", "gør", "ham", "han", "hans", "har", "havde", "have", "hende", "hendes", "her", "hos", "hun",
        "hvad", "hvis", "hvor", "hvordan", "i", "igen", "ikke", "ind", "jeg", "jer", "jo", "kan", "kom", "kommer",
        "kun", "kunne", "man", "mange", "med", "meget", "men", "mig", "min", "mine", "mit", "mod", "må", "noget",
        "nogle", "nok", "nu", "når", "og", "også", "om", "op", "os", "over", "på", "se", "selv", "sig", "sin", "sine",
        "sit", "skal", "skulle", "som", "så", "sådan", "til", "ud", "under", "var", "ved", "vi", "vil", "ville",
        "være", "været",
    ]),
    (Algorithm::Norwegian, &[
        "alle", "at", "av", "bare", "ble", "bli", "blir", "blitt", "da", "de", "deg", "dem", "den", "denne", "der",
        "dere", "det", "dette", "di", "din", "disse", "du", "eller", "en", "enn", "er", "et", "ett", "etter", "for",
        "fordi", "fra", "få", "gjør", "ha", "hadde", "han", "hans", "har", "hun", "hva", "hvem", "hver", "hvis",
        "hvor", "hvordan", "i", "ikke", "ingen", "inn", "jeg", "kan", "kom", "kommer", "kunne", "man", "mange", "med",
        "meg", "meget", "mellom", "men", "mer", "min", "mitt", "mot", "må", "noe", "noen", "nok", "nå", "når", "og",
        "også", "om", "opp", "oss", "på", "samme", "seg", "selv", "si", "sin", "sine", "skal", "skulle", "slik",
        "som", "så", "til", "um", "under", "ut", "uten", "var", "ved", "vi", "vil", "ville", "være", "vært", "å",
    ]),
    (Algorithm::Finnish, &[
        "ei", "eikä", "en", "et", "että", "he", "hän", "ja", "jo", "joka", "jonka", "jos", "jota", "jotka", "kanssa",
        "kuin", "kuinka", "kun", "kyllä", "me", "miksi", "mikä", "minulla", "minun", "minä", "missä", "mitä",
        "mukaan", "mutta", "myös", "ne", "niin", "niitä", "nyt", "näin", "nämä", "olemme", "olen", "oli", "olisi",
        "olivat", "olla", "on", "onko", "ovat", "se", "sekä", "sen", "siellä", "siinä", "siis", "siitä", "sille",
        "sinun", "sinä", "sitten", "sitä", "tai", "te", "tuo", "tämä", "tämän", "tässä", "tätä", "vaan", "vai",
        "vaikka", "vain", "voi", "voiko", "voit",
    ]),
    (Algorithm::Hungarian, &[
        "a", "abban", "ahogy", "ahol", "aki", "akkor", "alatt", "amely", "ami", "amíg", "arra", "az", "azok",
        "azonban", "azt", "be", "belül", "benne", "csak", "de", "e", "ebben", "egy", "egyik", "ehhez", "el", "ellen",
        "elég", "elő", "ennek", "erre", "ez", "ezek", "ezen", "ezt", "fel", "hanem", "hiszen", "hogy", "hogyan",
        "ide", "igen", "is", "ismét", "itt", "jó", "kell", "kellett", "ki", "lehet", "lenne", "lesz", "lett", "ma",
        "maga", "majd", "meg", "mellett", "mert", "mi", "miatt", "mikor", "minden", "mint", "mit", "most", "már",
        "más", "még", "míg", "nagyon", "ne", "nekem", "neki", "nem", "nincs", "ok", "olyan", "ott", "pedig", "persze",
        "s", "saját", "sem", "semmi", "szerint", "számára", "te", "tehát", "természetesen", "ti", "tovább", "ugyanis",
        "után", "utána", "vagy", "vagyok", "valami", "való", "van", "vannak", "volna", "volt", "én", "és", "össze",
        "úgy", "ő", "ők",
    ]),
    (Algorithm::Romanian, &[
        "a", "acea", "aceasta", "această", "aceea", "acel", "acela", "acele", "acest", "acesta", "aceste", "acestea",
        "ai", "aici", "al", "ale", "alt", "am", "ar", "are", "as", "asta", "astfel", "atunci", "au", "avea", "avem",
        "aveți", "azi", "aș", "ca", "care", "ce", "cei", "cel", "cele", "cine", "cu", "cum", "când", "că", "da",
        "dacă", "dar", "de", "deci", "deja", "din", "doar", "după", "ea", "ei", "el", "ele", "era", "este", "eu",
        "face", "fi", "fie", "fost", "fără", "iar", "la", "le", "li", "lor", "lui", "mai", "mea", "mi", "mult", "ne",
        "nici", "nimic", "noi", "nostru", "nu", "o", "or", "ori", "pe", "pentru", "poate", "prin", "s", "sa", "sau",
        "se", "si", "sunt", "suntem", "sunteți", "să", "ta", "te", "toate", "tot", "toți", "tu", "un", "una", "unde",
        "unei", "unele", "unor", "unui", "va", "voi", "vom", "vor", "vreau", "îi", "îl", "îmi", "în", "înainte",
        "între", "își", "și",
    ]),
    (Algorithm::Turkish, &[
        "acaba", "ama", "ancak", "artık", "aslında", "az", "bana", "bazı", "belki", "ben", "beni", "benim", "bir",
        "biraz", "biri", "birkaç", "birşey", "biz", "bize", "bu", "buna", "bunda", "bundan", "bunlar", "bunu",
        "bunun", "burada", "da", "daha", "de", "defa", "değil", "diye", "diğer", "en", "fakat", "gibi", "göre",
        "hangi", "hatta", "hem", "hep", "hepsi", "her", "herkes", "hiç", "ile", "ise", "için", "işte", "kadar",
        "kendi", "ki", "kim", "kimse", "mi", "mu", "mü", "mı", "nasıl", "ne", "neden", "nerede", "niye", "o", "olan",
        "olarak", "oldu", "olduğu", "olduğunu", "olması", "olsa", "olur", "ona", "onlar", "onları", "onu", "onun",
        "orada", "oysa", "pek", "sadece", "sanki", "siz", "sonra", "tüm", "var", "ve", "veya", "ya", "yani", "yapmak",
        "yok", "zaten", "çok", "çünkü", "şey", "şimdi", "şu",
    ]),
    (Algorithm::Russian, &[
        "а", "без", "более", "больше", "будет", "будто", "бы", "был", "была", "были", "было", "быть", "в", "вам",
        "вас", "вдруг", "ведь", "во", "вот", "впрочем", "все", "всегда", "всего", "всех", "всю", "вы", "где", "да",
        "даже", "два", "для", "до", "другой", "его", "ее", "ей", "ему", "если", "есть", "еще", "ещё", "ж", "же", "за",
        "зачем", "здесь", "и", "из", "или", "им", "иногда", "их", "к", "как", "какая", "какой", "когда", "конечно",
        "кто", "куда", "ли", "лучше", "между", "меня", "мне", "много", "может", "можно", "мой", "моя", "мы", "на",
        "над", "надо", "нас", "не", "него", "нее", "ней", "нельзя", "нет", "ни", "них", "ничего", "но", "ну", "о",
        "об", "один", "он", "она", "они", "оно", "опять", "от", "очень", "перед", "по", "под", "после", "потом",
        "потому", "почти", "при", "про", "раз", "разве", "с", "сам", "свою", "себе", "себя", "сейчас", "со", "так",
        "такой", "там", "тебя", "тем", "теперь", "то", "тогда", "того", "тоже", "только", "том", "тот", "три", "тут",
        "ты", "у", "уж", "уже", "хоть", "хотя", "чего", "чем", "через", "что", "чтоб", "чтобы", "чуть", "эти", "это",
        "этого", "этой", "этом", "этот", "эту", "я",
    ]),
    (Algorithm::Greek, &[
        "έχει", "έχουν", "έχω", "ή", "ήταν", "αλλά", "αν", "αντί", "από", "αυτά", "αυτή", "αυτοί", "αυτούς", "αυτό",
        "αυτός", "για", "γιατί", "δεν", "είμαι", "είναι", "είχε", "εγώ", "εκεί", "εμείς", "ενώ", "επειδή", "εσύ", "η",
        "θα", "κάθε", "κάτι", "και", "κατά", "μέσα", "μας", "με", "μετά", "μη", "μην", "μια", "μου", "μπορεί", "να",
        "ο", "οι", "πάνω", "παρά", "πιο", "ποιο", "ποιος", "πολύ", "που", "πρέπει", "πριν", "προς", "πως", "πώς",
        "σαν", "σας", "σε", "σου", "στα", "στη", "στην", "στις", "στο", "στον", "στους", "τα", "τη", "την", "της",
        "τι", "τις", "το", "τον", "του", "τους", "των", "τώρα", "ως", "όλα", "όμως", "όπου", "όπως", "όταν", "ότι",
        "όχι", "ώστε",
    ]),
    (Algorithm::Arabic, &[
        "أجل", "أحد", "أكثر", "أن", "أنا", "أنت", "أنه", "أو", "أي", "أيضا", "أين", "إذا", "إلا", "إلى", "إن", "إنه",
        "الآن", "التي", "الذي", "الذين", "الى", "بعد", "بعض", "بل", "بين", "تلك", "ثم", "حتى", "حيث", "خلال", "دون",
        "ذلك", "سوف", "على", "عليه", "عليها", "عن", "عند", "عندما", "غير", "فقط", "في", "فيه", "فيها", "قبل", "قد",
        "كان", "كانت", "كل", "كما", "كيف", "لأن", "لا", "لقد", "لكن", "لم", "لما", "لماذا", "له", "لها", "لهم", "ليس",
        "ما", "ماذا", "متى", "مع", "من", "منذ", "منه", "منها", "نحن", "نعم", "هذا", "هذه", "هل", "هم", "هنا", "هناك",
        "هو", "هي", "و", "وقد", "ولا", "وهو", "وهي", "يا", "يكون", "يمكن", "يوجد",
    ]),
];

/// Function words of chats.
#[rustfmt::skip]
const CHAT: &[&str] = &[
    "actually", "ah", "alright", "anyway", "aren", "awesome", "basically", "bye", "certainly", "cheers", "cool",
    "couldn", "course", "dear", "definitely", "didn", "doesn", "don", "else", "er", "etc", "exactly", "excellent",
    "fine", "glad", "good", "goodbye", "great", "guess", "hadn", "hasn", "haven", "hello", "help", "hey", "hi", "hmm",
    "hope", "huh", "isn", "kind", "know", "ll", "lol", "maybe", "mean", "mhm", "mm", "need", "nice", "nope", "oh",
    "ok", "okay", "oops", "ought", "perfect", "perhaps", "please", "pretty", "probably", "problem", "quite", "re",
    "right", "say", "see", "sorry", "sort", "sounds", "sure", "thank", "thanks", "thanx", "think", "to", "try", "ugh",
    "uh", "uhm", "um", "use", "using", "ve", "want", "wasn", "welcome", "weren", "wonderful", "wouldn", "wow", "yeah",
    "yep", "yes", "yet", "yup",
];

/// Keywords of code.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "args", "async", "await", "bool", "break", "case", "catch", "class", "const", "continue", "def", "del", "elif",
    "else", "enum", "except", "export", "extends", "false", "final", "finally", "float", "fn", "for", "foreach",
    "func", "function", "if", "impl", "import", "in", "int", "interface", "lambda", "let", "loop", "mod", "mut",
    "new", "nil", "none", "null", "pass", "print", "printf", "priv", "private", "protected", "pub", "public", "raise",
    "return", "self", "static", "str", "string", "struct", "super", "switch", "then", "this", "throw", "true", "try",
    "type", "typedef", "undefined", "use", "using", "val", "var", "void", "while", "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_they_can_be_searched() {
        let others = [CHAT, CODE, GOALS, DECISIONS, CHANGES, ERRORS, COURTESIES, READ_VERBS, CHANGE_VERBS];
        assert!(STOP_WORDS.iter().map(|(_, words)| *words).chain(others).all(<[&str]>::is_sorted));
    }

    #[test]
    fn a_word_knows_its_lists() {
        let both = Lists::containing("need");
        assert!(both.stops_everywhere() && both.is_in(CueList::Goals) && !both.is_in(CueList::Courtesies));
        assert!(GOALS.iter().all(|word| Lists::containing(word).is_in(CueList::Goals)));
        assert!(ERRORS.iter().all(|word| Lists::containing(word).is_in(CueList::Errors)));
        for (language, (_, words)) in STOP_WORDS.iter().enumerate() {
            assert!(words.iter().all(|word| Lists::containing(word).stops_in(language)));
        }
        assert_eq!(Lists::containing("zebra"), Lists::default());
        let mut buffer = String::new();
        assert_eq!(lowered("ΣΑΣ", &mut buffer), "σας");
        assert_eq!(lowered("Word", &mut buffer), "word");
    }

    #[test]
    fn function_words_are_sorted_so_that_they_can_be_searched() {
        assert!(["あり", "から", "ます", "我们", "那个"].iter().all(|pair| is_function_word(pair)));
    }

    #[test]
    fn terms_are_stems_or_pairs() {
        let english = || Language::guess(std::iter::once("the and of to is"));
        let german = || Language::guess(std::iter::once("der und nicht ist ein"));
        for (language, text, expected) in [
            (english(), "I am running the tests, it's the user's", &["run", "test", "user"][..]),
            (english(), "let x = parse_args(argv[1]);", &["parse_args", "argv", "1"]),
            (german(), "Die Dateien werden gelöscht", &["datei", "geloscht"]),
            (None, "東京に行く", &["東京", "京に", "に行", "行く"]),
            (None, "서울에서 1반", &["서울", "울에", "에서", "1반"]),
            (None, "ขอบคุณ", &["ขอ", "อบ", "บคุ", "คุณ"]),
            (None, "好", &["好"]),
            (None, "", &[]),
        ] {
            let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
            let mut terms = Terms::new(language);
            let numbers = terms.terms_in(text, &words);
            let name = |number| terms.numbers.iter().find(|(_, known)| **known == number).unwrap().0.as_str();
            assert_eq!(numbers.into_iter().map(name).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn guesses_from_common_words() {
        for (text, expected) in [
            ("I think that we should move it to the other folder", Some(Algorithm::English)),
            ("Ich möchte, dass die Datei nicht gelöscht wird und wir das prüfen", Some(Algorithm::German)),
            ("Je voudrais que le fichier soit dans le dossier de la semaine", Some(Algorithm::French)),
            ("Я хочу чтобы это было в другой папке и не на диске", Some(Algorithm::Russian)),
            ("أريد أن يكون الملف في هذا المجلد من أجل هذا", Some(Algorithm::Arabic)),
            ("ファイルを移動してください", None),
            ("0x1f 0x2e 17 18", None),
            ("", None),
        ] {
            let guess = Language::guess(std::iter::once(text)).map(|language| format!("{:?}", language.algorithm()));
            assert_eq!(guess, expected.map(|language| format!("{language:?}")), "{text}");
        }
    }
}
