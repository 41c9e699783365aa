import { closeSync, openSync, readSync } from 'node:fs';
import type { Report } from './report.ts';

const NEWLINE = 0x0a;

/** Reads reports from a growing file. Each call returns all of them, but reads only the new part. */
export function readReports(file: string): () => readonly Report[] {
  const reports: Report[] = [];
  let at = 0;
  let unfinished = Buffer.alloc(0);
  return () => {
    const read = readFrom(file, at);
    at += read.length;
    const all = Buffer.concat([unfinished, read]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    for (const line of all.subarray(0, end).toString().split('\n'))
      if (line !== '') reports.push(JSON.parse(line));
    unfinished = all.subarray(end);
    return reports;
  };
}

function readFrom(file: string, at: number): Buffer {
  const parts: Buffer[] = [];
  const opened = openSync(file, 'r');
  try {
    for (let from = at; ; ) {
      const part = Buffer.alloc(2 ** 16);
      const bytes = readSync(opened, part, 0, part.length, from);
      if (bytes === 0) return Buffer.concat(parts);
      parts.push(part.subarray(0, bytes));
      from += bytes;
    }
  } finally {
    closeSync(opened);
  }
}
