import { CAUSE_ADVICE, LOSS_ADVICE, REASON_ADVICE, STATUS_ADVICE } from '../../core/fleet/advice.ts';
import type { FleetRow } from '../../protocol/console-fleet.ts';

const lookUp = (table: Readonly<Record<string, string>>, key: string): string | null =>
  Object.hasOwn(table, key) ? (table[key] ?? null) : null;

/** The tables are written for pages of documentation. */
const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

/** What to do about a device, a line for each reason. Empty: nothing. */
export function adviceFor({ status, reasons }: Pick<FleetRow, 'status' | 'reasons'>): string[] {
  if (status === 'ready') return [];
  if (status === 'never') return ['It has never connected: check its power, its network and its card.'];
  if (status === 'unknown') return ['It publishes no status: check its version and its login at the broker.'];
  const lines = reasons.flatMap((reason) => {
    const [code = '', detail = ''] = reason.split(/:(.*)/s);
    const about = lookUp(REASON_ADVICE, code);
    const cause = lookUp(CAUSE_ADVICE, detail) ?? lookUp(LOSS_ADVICE, detail);
    if (about === null) return [];
    return [plain(`${reason}: ${cause === null ? about : cause}`)];
  });
  return lines.length > 0 ? lines : [plain(`${status}: ${STATUS_ADVICE[status].todo}`)];
}
