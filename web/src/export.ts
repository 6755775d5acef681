// Lists as files. Pure, but for `save`.

/// A field of CSV. A spreadsheet would run a text that begins like a formula, so it is led by an
/// apostrophe, which shows that it is text.
function csvField(value: unknown): string {
  const text = value === undefined || value === null ? "" : String(value);
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function toCsv<Row extends object>(columns: Array<keyof Row & string>, rows: Row[]): string {
  const lines = [columns.join(","), ...rows.map((row) => columns.map((name) => csvField(row[name])).join(","))];
  return lines.map((line) => `${line}\r\n`).join("");
}

/// Gives a person a file.
export function save(name: string, type: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
