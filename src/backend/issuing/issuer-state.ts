import type { BackendConfig } from '../../protocol/backend-config.ts';
import { ServicePause } from '../service/service-trouble.ts';
import { type DeviceRegistry, openDeviceRegistry } from './device-registry.ts';
import type { Terms } from './job.ts';
import { JobSchedule } from './job-schedule.ts';
import { settledMs } from './mint/claim.ts';
import type { Policy } from './mint/policy.ts';

export type IssuerOptions = Policy & Pick<BackendConfig, 'limits' | 'service'>;

/** The issuer's state: the owner's limits, which are constant, and three parts that change with each request. */
export interface IssuerState {
  readonly options: IssuerOptions;
  readonly terms: Terms;
  /** Each device's requests and answers. */
  readonly devices: DeviceRegistry;
  /** Which sessions are being made. */
  readonly schedule: JobSchedule;
  /** Whether the service takes requests at all. */
  readonly pause: ServicePause;
}

export function beginIssuer(options: IssuerOptions, instance: string): IssuerState {
  return {
    options,
    terms: {
      instance,
      mostPending: options.limits.pendingSessions,
      settledMs: settledMs(options.service.timeout),
    },
    devices: openDeviceRegistry(options.limits),
    schedule: new JobSchedule(options.limits),
    pause: new ServicePause(),
  };
}
