/** Publishes the result: beside the file for the owner of the card, and in /run for other programs. */
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemReason } from '../adapters/system-error.ts';
import { PROVISIONING_RESULT_FILE, type ProvisioningResult, STATUS_FILE } from './core/outcome.ts';
import { statusText } from './core/status-text.ts';
import { hasOtherNotes } from './standing-notes.ts';
import { clearDraft, writeSettingsText } from './status-file.ts';

/** @returns what could not be written: a sentence each */
export function report(result: ProvisioningResult, boot: string, root: string): string[] {
  const problems: string[] = [];
  const place = join(root, PROVISIONING_RESULT_FILE);
  const folderTrouble = failing(() => makeRunFolder(dirname(place)));
  const isToldThere = result.outcome !== 'no_file' || result.notes.length > 0;
  if (isToldThere && isNews(result, boot)) {
    const trouble = writeSettingsText(boot, statusText(result), dirname(place));
    if (trouble !== null) problems.push(`${join(boot, STATUS_FILE)} cannot be written (${trouble})`);
  } else clearDraft(boot, dirname(place));
  const fileTrouble = failing(() => {
    const draft = `${place}.draft`;
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(result)}\n`, { mode: 0o644, flag: 'wx' });
    renameSync(draft, place);
  });
  const trouble = folderTrouble ?? fileTrouble;
  if (trouble !== null) problems.push(`${place} cannot be written (${trouble})`);
  return problems;
}

/** @returns null, or the reason in words */
function failing(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return systemReason(error);
  }
}

/** The agent's runtime folder, which systemd otherwise creates at the agent's start. */
function makeRunFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (process.getuid?.() === 0) chownSync(folder, 0, 0);
}

/** Whether the result must be written. An unchanged one is not: a power cut during the write could damage the card. */
function isNews(result: ProvisioningResult, boot: string): boolean {
  if (result.outcome !== 'unchanged') return true;
  try {
    const before = readFileSync(join(boot, STATUS_FILE), 'utf8');
    return !/^Result: (applied|unchanged)\./m.test(before) || hasOtherNotes(before, result.notes);
  } catch {
    return true;
  }
}
