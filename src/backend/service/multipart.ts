import { randomBytes } from 'node:crypto';

/** A form with one file, which comes last (docs/service.md 4.5). */
export function encodeForm(
  fields: Readonly<Record<string, string>>,
  file: { name: string; type: string; bytes: Buffer },
): { contentType: string; body: Buffer } {
  const boundary = `dragoman-${randomBytes(16).toString('hex')}`;
  const part = (disposition: string, ...rest: (string | Buffer)[]): Buffer[] => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`),
    ...rest.map((piece) => Buffer.from(piece as string)),
    Buffer.from('\r\n'),
  ];
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    part(`name="${escapeName(name)}"`, '\r\n', value),
  );
  const disposition = `name="file"; filename="${escapeName(file.name)}"`;
  parts.push(...part(disposition, `Content-Type: ${file.type}\r\n\r\n`, file.bytes));
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(parts) };
}

/** Escapes a name as browsers do (HTML, multipart/form-data encoding). */
function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
