// Numbers, times and texts as people read them. Pure, but for `now`.

import { signal } from "@preact/signals";

/// Moves once a second while the page is looked at, so that relative times do.
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

const grouped = new Intl.NumberFormat("en");

export function count(value: number, atLeast?: boolean): string {
  return grouped.format(value) + (atLeast ? "+" : "");
}

/// The same in a sentence: "more than 10,000" where that is how far it was counted.
export function upTo(value: number, atLeast?: boolean): string {
  if (!atLeast) return count(value);
  return value > 0 ? `more than ${count(value)}` : "an unknown number of";
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;
}

export function bytes(size: number): string {
  if (size < 1024) return plural(size, "byte");
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KiB`;
  if (size < 1024 ** 3) return `${(size / 1024 ** 2).toFixed(1)} MiB`;
  return `${(size / 1024 ** 3).toFixed(1)} GiB`;
}

/// "42 s", "6 min", "3 h", "12 d": one unit, so that columns of it stay still.
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/// "0.3 ms", "42 ms", "1.5 s".
export function latency(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

/// The bound of a histogram: "0.5 ms", "20 ms", "2 s".
export function milliseconds(bound: number): string {
  if (bound === Infinity) return "more";
  return bound < 1000 ? `${bound} ms` : `${bound / 1000} s`;
}

export function relative(iso: string, at: number): string {
  const difference = Date.parse(iso) - at;
  if (Number.isNaN(difference)) return iso;
  if (Math.abs(difference) < 1500) return "now";
  return difference < 0 ? `${duration(-difference)} ago` : `in ${duration(difference)}`;
}

/// The time here, and the one that logs and the database have.
export function exact(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : `${time.toLocaleString()}\n${iso}`;
}

/// An id that can be told from its neighbours: the end of a UUID of version 7 is its random part.
export function shortId(id: string): string {
  return id.length > 13 ? `…${id.slice(-12)}` : id;
}

const indentMax = 20; // What is deeper stays at that: a stranger's brackets must not fill the memory.
const prettyMax = 200_000; // Characters; longer texts are shown as they are.

/// JSON with line breaks, every other character as it was: to parse it would change large numbers.
export function indentJson(text: string): string {
  let out = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, indentMax))}`;
  for (let i = 0; i < text.length; ++i) {
    const each = text[i]!;
    if (each === '"') {
      let end = i + 1;
      while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
      out += text.slice(i, end + 1);
      i = end;
    } else if (each === "{" || each === "[") {
      const rest = text.slice(i + 1).trimStart();
      const closing = each === "{" ? "}" : "]";
      if (rest.startsWith(closing)) {
        out += each + closing;
        i = text.indexOf(closing, i);
      } else {
        ++depth;
        out += each + line();
      }
    } else if (each === "}" || each === "]") {
      depth = Math.max(0, depth - 1);
      out += line() + each;
    } else if (each === ",") {
      out += each + line();
    } else if (each === ":") {
      out += ": ";
    } else if (!/\s/.test(each)) {
      out += each;
    }
  }
  return out;
}

export function pretty(text: string): string {
  if (text.length > prettyMax) return text;
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return indentJson(text);
}
