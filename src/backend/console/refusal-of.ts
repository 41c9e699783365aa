/** Which part of a published configuration a device's report refuses. */
import type { DesiredBody } from '../../fleet/desired-edit.ts';
import { nameOfFault } from '../../fleet/desired-verdict.ts';
import type { ReceivedReport } from '../../fleet/device-messages.ts';

const MOST_KEYS = 5;
/** Form of a configuration key. A device may send anything. */
const KEY = /^[\w.[\]-]{1,80}$/;

/**
 * Which keys of the present document the device refuses, in words. The reasons are left out: they may quote values.
 * @param from `device` or `group:{name}`
 * @returns null: none, or the device has not read this version yet
 */
export function refusalOf(report: ReceivedReport, from: string, body: DesiredBody): string | null {
  const keys = report.errors.filter((fault) => fault.from === from).map(({ key }) => key);
  if (keys.length === 0) return null;
  // Checked before the version, because a document that is refused as a whole never becomes the version in force.
  if (keys.includes('')) return 'the whole document';
  if (report.version[from] !== body['version']) return null;
  const names = [...new Set(keys.map((key) => nameOfFault(body, key)))].map((name) =>
    KEY.test(name) ? name : 'a key with an unusual name',
  );
  const more = names.length - MOST_KEYS;
  return names.slice(0, MOST_KEYS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
