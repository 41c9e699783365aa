import type { Host } from '../../ports/host.ts';
import type { ReadVitals, Vitals } from '../../ports/vitals.ts';
import { attempt, type Defects, defectOf } from './defects.ts';

/** A machine that never throws: what it cannot do it says. */
export function guardHost(host: Host, defects: Defects): Host {
  const asked = (where: string, ask: () => string | null): string | null => {
    try {
      return ask();
    } catch (error) {
      defects(where, error);
      return defectOf(error);
    }
  };
  return {
    restartProblem: () => asked('host.restartProblem', () => host.restartProblem()),
    restart: () => void attempt(defects, 'host.restart', () => host.restart()),
    reboot: () => asked('host.reboot', () => host.reboot()),
  };
}

const NO_VITALS: Vitals = { rssBytes: null, cpuSeconds: null, loopLagMs: null, temperatureC: null };

/** What cannot be read is not told. */
export function guardVitals(read: ReadVitals, defects: Defects): ReadVitals {
  return () => {
    let vitals = NO_VITALS;
    attempt(defects, 'vitals', () => {
      vitals = read();
    });
    return vitals;
  };
}
