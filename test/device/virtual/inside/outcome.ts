import type { ScenarioName } from '../report.ts';
import type { Device } from './device.ts';

export interface Outcome {
  readonly found: Readonly<Record<string, unknown>>;
  /** Recorded sound in base64. */
  readonly sound?: string;
}
export type Scenario = (device: Device) => Promise<Outcome>;
export type Scenarios = Readonly<Record<ScenarioName, Scenario>>;
