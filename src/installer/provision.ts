/** One run of `dragoman provision`: reads and checks the file, puts its parts in place, removes the secrets, and reports. */

import { applyWrites, missingWrites, type Owners } from './apply.ts';
import { readBootFile, similarNames } from './boot-file.ts';
import { checkConfigPart } from './config-check.ts';
import { configPart } from './core/config-part.ts';
import { PROVISIONING_FILE, type ProvisioningProblem, type ProvisioningResult } from './core/outcome.ts';
import { PLACES, type Write } from './core/places.ts';
import { type Plan, planProvisioning } from './core/plan.ts';
import { holdsSecrets } from './core/secrets.ts';
import { type DocumentResult, readDocument, secretsIn, withLine } from './document.ts';
import { findFacts, findNetwork, presentKey, presentText } from './facts.ts';
import { checkKeys } from './key-check.ts';
import { findOwners } from './owners.ts';
import { resumeCleaning, takeSecretsOut } from './remove-secrets.ts';
import { notesOnCard } from './standing-notes.ts';
import { lasts } from './survives-reboot.ts';
import { takeEffect } from './take-effect.ts';

export interface ProvisioningRun {
  /** The folder where the boot partition is mounted. */
  readonly boot: string;
  /** The target system: "/" for the running one. */
  readonly root: string;
  /** Writes nothing at all. */
  readonly isDry: boolean;
  readonly isRoot: boolean;
  /** Null while the clock is not set. */
  readonly wall: number | null;
}

export interface ProvisioningEnd {
  readonly result: ProvisioningResult;
  /** The completed writes, or in a dry run the planned ones. */
  readonly writes: readonly Write[];
}

interface RunFacts {
  readonly outcome: ProvisioningResult['outcome'];
  readonly file?: null;
  readonly problems?: readonly ProvisioningProblem[];
  readonly notes?: string[];
  readonly wifi?: boolean;
  readonly writes?: readonly Write[];
}

export function provision(run: ProvisioningRun): ProvisioningEnd {
  if (!run.isDry) resumeCleaning(run.boot);
  const bootFile = readBootFile(run.boot);
  const secrets = bootFile.kind === 'text' ? secretsIn(bootFile.text) : [];
  const end = (facts: RunFacts): ProvisioningEnd => endOf(run, facts, secrets);
  if (bootFile.kind === 'none') return end({ outcome: 'no_file', file: null });
  if (bootFile.kind === 'unreadable')
    return end({ outcome: 'file_unreadable', problems: [bootFile.problem] });
  const read = readDocument(bootFile.text);
  if (!read.ok) return end({ ...read, problems: [...read.problems, ...configProblems(read, run)] });
  const { document } = read;
  const wifi = document.wifi !== undefined;
  const plan = planFor(read, run);
  if (!plan.ok) return end({ ...plan, wifi });
  const { owners, problem } = ownersFor(plan.writes, run);
  if (problem !== null) return end({ outcome: 'write_failed', problems: [problem], wifi });
  const notes = [...plan.notes, ...notesOnNames(run.boot)];
  const { missing: problems } = plan;
  const outcomeOf = (writes: readonly Write[]) =>
    problems.length > 0 ? 'secrets_missing' : writes.length > 0 ? 'applied' : 'unchanged';
  if (run.isDry) {
    const writes = missingWrites(plan.writes, run.root, owners);
    return end({ outcome: outcomeOf(writes), problems, notes, wifi, writes });
  }
  const applied = applyWrites(plan.writes, run.root, owners);
  if (!applied.ok) return end({ outcome: applied.outcome, problems: [inWords(applied)], wifi });
  const { changed } = applied;
  if (run.root === '/' && changed.length > 0) takeEffect(changed, document.wifi);
  if (holdsSecrets(document)) {
    if (lasts(run.root)) notes.push(...notesOnCleaning(takeSecretsOut(run.boot, read.value)));
    else notes.push(FORGETS);
  }
  return end({ outcome: outcomeOf(changed), problems, notes, wifi, writes: changed });
}

function endOf(
  { boot, root, wall }: ProvisioningRun,
  { writes = [], ...facts }: RunFacts,
  secrets: readonly string[],
): ProvisioningEnd {
  // A message may quote another field that repeats a secret, also in its JSON form.
  const quotable = secrets.flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret]);
  const printable = (text: string): string =>
    onOneLine(quotable.reduce((rest, secret) => rest.replaceAll(secret, '(secret)'), text));
  const result: ProvisioningResult = {
    format: 1,
    at: wall === null ? null : new Date(wall).toISOString(),
    outcome: facts.outcome,
    file: facts.file === undefined ? `${boot.replace(/\/$/, '')}/${PROVISIONING_FILE}` : facts.file,
    problems: (facts.problems ?? []).map(({ field, message, fix }) => ({
      field: printable(field),
      message: printable(message),
      fix: printable(fix),
    })),
    notes: [...(facts.notes ?? []), ...notesOnCard(root)].map(printable),
    network: findNetwork(root, facts.wifi ?? false),
    wifi: facts.wifi ?? false,
  };
  return { result, writes };
}

/** Quotes from the file must neither begin a line nor control a terminal. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}

/** Mistakes in the configuration of a file that has other mistakes, too. */
function configProblems(
  { forConfig }: Extract<DocumentResult, { ok: false }>,
  { root }: ProvisioningRun,
): readonly ProvisioningProblem[] {
  if (forConfig === null) return [];
  const { value, problems } = configPart(forConfig.document, presentText(root, PLACES.config));
  return [...problems, ...checkConfigPart(value, forConfig.locate, root).problems];
}

function planFor(read: Extract<DocumentResult, { ok: true }>, { root, wall }: ProvisioningRun): Plan {
  const { document, locate } = read;
  const keys = checkKeys(document, presentKey(root), wall);
  const part = configPart(document, presentText(root, PLACES.config)).value;
  const config = checkConfigPart(part, locate, root);
  const facts = {
    ...findFacts(document, root),
    keyProblems: keys.problems,
    configProblems: config.problems,
  };
  const plan = planProvisioning(document, facts);
  return plan.ok
    ? { ...plan, notes: [...plan.notes, ...keys.notes, ...config.notes] }
    : { ...plan, problems: plan.problems.map((one) => withLine(one, locate)) };
}

function ownersFor(
  writes: readonly Write[],
  { root, isRoot }: ProvisioningRun,
): { owners: Owners; problem: ProvisioningProblem | null } {
  const owners = findOwners(writes, root, isRoot);
  if (owners.ok) return { owners: owners.owners, problem: null };
  const message = 'cannot be put in place: there is no user "dragoman" to read the secrets';
  const fix = 'Install the package dragoman first.';
  return { owners: null, problem: { field: '', message: `${PROVISIONING_FILE} ${message}`, fix } };
}

function inWords({ outcome, message }: { outcome: string; message: string }): ProvisioningProblem {
  const what =
    outcome === 'disk_full' ? 'The disk of the device is full' : `The disk cannot be written (${message})`;
  return {
    field: '',
    message: `${what}; nothing was changed`,
    fix: outcome === 'disk_full' ? 'Free some space, or flash the card again.' : 'Try another card.',
  };
}

function notesOnNames(boot: string): string[] {
  return similarNames(boot).map(
    (name) => `${JSON.stringify(name)} is beside ${PROVISIONING_FILE} and is ignored.`,
  );
}

const FORGETS =
  'The new settings are in memory only and lost at the next boot: the secrets stay in dragoman.json, where anyone with the card can read them.';

function notesOnCleaning(trouble: string | null): string[] {
  if (trouble === null) return ['The secrets are on the device now and were removed from dragoman.json.'];
  return [
    `The secrets could not be removed from dragoman.json (${trouble}): anyone with the card can read them there.`,
  ];
}
