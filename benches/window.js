// What a script does today: the last 40 messages of every record. Usage: node window.js FILE
const lines = require("readline").createInterface({ input: require("fs").createReadStream(process.argv[2]) });
let out = [];
lines.on("line", (line) => {
  const record = JSON.parse(line);
  const head = record.messages.slice(0, -40).filter((message) => message.role === "system");
  record.messages = head.concat(record.messages.slice(-40));
  out.push(JSON.stringify(record));
  if (out.length === 64) {
    process.stdout.write(out.join("\n") + "\n");
    out = [];
  }
});
lines.on("close", () => out.length && process.stdout.write(out.join("\n") + "\n"));
