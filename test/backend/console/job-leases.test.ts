/** Two backends share the jobs of a store, in virtual time: one of them works on a job, and the other one only when it is gone. */
import { describe, expect, it } from 'vitest';
import { createJobs } from '../../../src/backend/console/jobs.ts';
import type { ConsoleStore, StoredJob } from '../../../src/ports/console-store.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const JOB = {
  who: 'ann',
  command: 'mute',
  args: {},
  validMs: 3_600_000,
  devices: ['museum/a'],
  auditLine: 'l',
};

function twoBackends() {
  const clock = createVirtualClock();
  const rows = new Map<string, { job: StoredJob; instance: string; until: number }>();
  const store: Pick<ConsoleStore, 'saveJob' | 'claimJobs'> = {
    async saveJob(job, instance, leaseMs) {
      const row = rows.get(job.id);
      if (row !== undefined && row.instance !== instance) return false;
      rows.set(job.id, { job, instance, until: clock.now() + leaseMs });
      return true;
    },
    async claimJobs(instance, leaseMs) {
      const lost = [...rows.values()].filter(({ job, until }) => job.endedAt === null && until < clock.now());
      for (const row of lost) Object.assign(row, { instance, until: clock.now() + leaseMs });
      return lost.map(({ job }) => job);
    },
  };
  const sent: string[] = [];
  const open = (name: string) =>
    createJobs({
      store: store as ConsoleStore,
      bus: () => ({
        connected: true,
        outbox: { depth: 0, dropped: 0 },
        publish(_topic, _text, options) {
          sent.push(name);
          options?.ended?.(true);
        },
      }),
      prefix: 'dragoman/v1',
      signer: null,
      clock,
      complain: (_kind, fields) => {
        throw new Error(JSON.stringify(fields));
      },
      isConnected: () => true,
      whySilent: () => 'silent',
      ended() {},
    });
  return { clock, sent, rows, one: open('one'), other: open('other') };
}

describe('a job of one of two backends', () => {
  it('stays with it as long as it works on it, and is sent once', async () => {
    const { clock, sent, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(90_000);
    expect(sent).toEqual(['one']);
    expect(one.find(id)).not.toBeNull();
    expect(other.find(id)).toBeNull();
  });

  it("is the other one's within 6 s when it closes", async () => {
    const { clock, sent, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    await one.close();
    await clock.elapse(6000);
    expect(other.find(id)).not.toBeNull();
    expect(sent).toEqual(['one', 'other']);
  });

  it("is the other one's after its lease when it is killed, and is not taken back", async () => {
    const { clock, rows, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    // It still runs, but its claim was lost: as after a long sleep.
    for (const row of rows.values()) Object.assign(row, { instance: 'gone', until: clock.now() + 15_000 });
    await clock.elapse(14_000);
    expect(other.find(id)).toBeNull();
    expect(one.find(id)).toBeNull();
    await clock.elapse(8000);
    const holders = [one, other].filter((jobs) => jobs.find(id) !== null);
    expect(holders).toHaveLength(1);
    await clock.elapse(60_000);
    expect([one, other].filter((jobs) => jobs.find(id) !== null)).toEqual(holders);
  });
});
