import type { Card } from './card.ts';

/** The kernel cuts a card's id after this many characters. */
const LONGEST_ID = 15;

/** Identical cards: the kernel names them in the order in which it finds them, so their ids may swap. */
export interface Twins {
  readonly cards: readonly Card[];
  /** Lines for a udev rules file that name each socket; empty when the sockets are unknown. */
  readonly rules: readonly string[];
}

export function findTwins(cards: readonly Card[]): Twins[] {
  const byModel = new Map<string, Card[]>();
  for (const card of cards) {
    const model = card.usb?.model;
    if (model === null || model === undefined || card.streams.length === 0) continue;
    byModel.set(model, [...(byModel.get(model) ?? []), card]);
  }
  const taken = new Set(cards.map(({ id }) => id));
  return [...byModel.values()]
    .filter((equal) => equal.length > 1 && !haveNames(equal))
    .map((equal) => ({ cards: equal, rules: nameSockets(equal, taken) }));
}

/**
 * The kernel gives identical cards one id with a number after it, shortened to fit. Ids with different stems come from a udev rule.
 */
function haveNames(cards: readonly Card[]): boolean {
  const [first = '', ...others] = cards
    .map(({ id }) => stemOf(id))
    .sort((one, other) => one.length - other.length);
  return others.length > 0 && !others.some((stem) => stem.startsWith(first));
}

function stemOf(id: string): string {
  return id.replace(/_\d+$/, '');
}

function nameSockets(cards: readonly Card[], taken: Set<string>): string[] {
  const rules: string[] = [];
  for (const [place, card] of cards.entries()) {
    const port = card.usb?.port;
    if (port === null || port === undefined) return [];
    const name = freeName(stemOf(card.id), String.fromCharCode(65 + (place % 26)), taken);
    taken.add(name);
    rules.push(`ACTION=="add", KERNEL=="card*", KERNELS=="${port}", ATTR{id}="${name}"`);
  }
  return rules;
}

/** A name that no card has: the kernel refuses a duplicate. */
function freeName(stem: string, letter: string, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round++) {
    const ending = round === 0 ? letter : `${letter}${round}`;
    const name = `${stem.slice(0, LONGEST_ID - ending.length)}${ending}`;
    if (!taken.has(name)) return name;
  }
}
