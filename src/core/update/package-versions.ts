/** Compares versions of Debian packages without an epoch, as dpkg does: negative if `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [upstreamA, revisionA] = parts(a);
  const [upstreamB, revisionB] = parts(b);
  return comparePart(upstreamA, upstreamB) || comparePart(revisionA, revisionB);
}

/** The version of the package for an ordered version: "1.3.0" means "1.3.0-1". */
export const packageVersion = (version: string): string => (version.includes('-') ? version : `${version}-1`);

/** The version without the default revision, for people and reports, like `version` in `status`. */
export const plainVersion = (version: string): string => version.replace(/-1$/, '');

function parts(version: string): [string, string] {
  const at = version.lastIndexOf('-');
  return at < 0 ? [version, ''] : [version.slice(0, at), version.slice(at + 1)];
}

/** Compares text and numbers in turn, until they differ. */
function comparePart(a: string, b: string): number {
  let [restA, restB] = [a, b];
  while (restA !== '' || restB !== '') {
    const [textA, textB] = [leading(/^\D*/, restA), leading(/^\D*/, restB)];
    const byText = compareText(textA, textB);
    if (byText !== 0) return byText;
    const [digitsA, digitsB] = [
      leading(/^\d*/, restA.slice(textA.length)),
      leading(/^\d*/, restB.slice(textB.length)),
    ];
    const byNumber = compareNumbers(digitsA, digitsB);
    if (byNumber !== 0) return byNumber;
    restA = restA.slice(textA.length + digitsA.length);
    restB = restB.slice(textB.length + digitsB.length);
  }
  return 0;
}

const leading = (pattern: RegExp, text: string): string => pattern.exec(text)?.[0] ?? '';

function compareText(a: string, b: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = rank(a[at]) - rank(b[at]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** "~" sorts before the end of the text, the end before letters, and letters before other characters. */
function rank(character: string | undefined): number {
  if (character === '~') return -1;
  if (character === undefined) return 0;
  const code = character.charCodeAt(0);
  return /[A-Za-z]/.test(character) ? code : code + 256;
}

function compareNumbers(a: string, b: string): number {
  const [plainA, plainB] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return plainA.length - plainB.length || (plainA < plainB ? -1 : plainA > plainB ? 1 : 0);
}
