import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../../device/agent.ts';
import { createMachineDeps } from '../../device/machine-deps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { configSchema } from '../../protocol/config.ts';
import { DEMO_DEVICE, type DemoEnvironment, type Running } from './environment.ts';

/** A further kiosk, so that the console shows a fleet. */
interface OtherKiosk {
  readonly id: string;
  readonly groups: readonly string[];
  readonly source: string;
  readonly targets: readonly string[];
  /** Null: a missing microphone, so that the console shows a problem to fix. */
  readonly capture: string | null;
}

/** Minutes of sound that each loudspeaker's file keeps. */
const LONGEST_MIN = 60;

/** Starts two more kiosks: one waits for the command `start`, the other one has lost its microphone. */
export async function startOtherKiosks(
  environment: DemoEnvironment,
  { input, clock, log }: { readonly input: string; readonly clock: Clock; readonly log: Log },
): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-kiosks-'));
  const kiosks: readonly OtherKiosk[] = [
    {
      id: 'kiosk-02',
      groups: ['counter'],
      source: 'en',
      targets: ['fr'],
      capture: input,
    },
    {
      id: 'kiosk-03',
      groups: ['lobby'],
      source: 'en',
      targets: ['de'],
      capture: null,
    },
  ];
  const agents: Agent[] = [];
  const close = async (): Promise<void> => {
    for (const agent of agents.splice(0)) await agent.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const kiosk of kiosks) {
      const config = configSchema.parse(configOf(kiosk, environment, folder));
      const agent = new Agent(config, await createMachineDeps(config, clock, log, {}));
      agents.push(agent);
      await agent.start();
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

function configOf(
  { id, groups, source, targets, capture }: OtherKiosk,
  environment: DemoEnvironment,
  folder: string,
): object {
  return {
    device: { ...DEMO_DEVICE, id, groups },
    mqtt: { url: environment.brokerUrl },
    owner: { publicKeyFiles: [environment.ownerKeyFile] },
    service: { hosts: [new URL(environment.serviceUrl).host] },
    lanes: [
      {
        id: 'main',
        capture:
          capture === null
            ? { driver: 'command', command: ['/nonexistent/microphone'] }
            : { driver: 'file', path: capture, loop: true, sampleRate: 24_000 },
        playback: { driver: 'file', path: join(folder, `${id}.wav`), maxMinutes: LONGEST_MIN },
        source,
        targets,
        echo: 'off',
        start: capture === null ? 'boot' : 'command',
      },
    ],
  };
}
