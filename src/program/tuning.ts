import { setFlagsFromString } from 'node:v8';

/**
 * After how much of a function V8 compiles it to the end: a third of its own measure, which counts bytes of bytecode up to
 * V8 11 (Node 20) and calls since V8 12. A kiosk's code runs a few times a second, but for months; what V8 thinks too seldom
 * to bother with is most of what it does. Other versions are left as they are.
 */
const FLAG_BY_VERSION: Readonly<Record<string, string>> = {
  11: '--interrupt-budget=20000',
  12: '--invocation-count-for-turbofan=1000',
  13: '--invocation-count-for-turbofan=1000',
};

/** Has V8 compile sooner what runs seldom, but for long. To be called before that code runs. */
export function compileSooner(version = process.versions.v8): void {
  const flag = FLAG_BY_VERSION[version.split('.')[0] ?? ''];
  if (flag !== undefined) setFlagsFromString(flag);
}
