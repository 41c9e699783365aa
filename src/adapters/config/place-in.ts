import type { Path, Position } from './jsonc.ts';

/** `backend.json:3:5`; for a missing value, the place of its nearest parent. */
export function placeIn(
  file: string,
  path: readonly PropertyKey[],
  locate: (path: Path) => Position | undefined,
): string {
  const steps = path.map((step) => (typeof step === 'number' ? step : String(step)));
  for (let length = steps.length; length >= 0; length -= 1) {
    const position = locate(steps.slice(0, length));
    if (position !== undefined) return `${file}:${position.line}:${position.column}`;
  }
  return file;
}
