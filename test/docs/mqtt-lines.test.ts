import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connectAsync } from 'mqtt';
import { afterAll, describe, expect, it } from 'vitest';
import { readDocument, resolveDesired } from '../../src/device/config/desired-rules.ts';
import { commandRequestSchema } from '../../src/protocol/mqtt/command.ts';
import { COMMANDS, type CommandName } from '../../src/protocol/mqtt/commands/registry.ts';
import { findMosquitto, startMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { testConfig } from '../device/fake-deps.ts';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';

const page = readFileSync(new URL('../../docs/mqtt.md', import.meta.url), 'utf8');
const lines = commandsOf('docs/mqtt.md', page).map(({ line }) => line);
const mosquitto = findMosquitto();
const hasClients = spawnSync('mosquitto_pub', ['--help']).error === undefined;
const broker = mosquitto !== null && hasClients ? await startMosquitto(mosquitto) : null;
afterAll(() => broker?.close());

describe(
  `the lines of docs/mqtt.md${broker === null ? ': skipped, mosquitto and its clients are not installed' : ''}`,
  needs(broker === null && 'needs mosquitto'),
  () => {
    it('publish valid messages with mosquitto_pub', async () => {
      if (broker === null) throw new Error('there is no broker');
      const client = await connectAsync(broker.url);
      const received: [string, unknown][] = [];
      client.on('message', (topic, payload) => void received.push([topic, JSON.parse(payload.toString())]));
      await client.subscribeAsync('#', { qos: 1 });
      for (const line of lines)
        execFileSync('sh', ['-ec', line.replace('mosquitto_pub', `mosquitto_pub -p ${broker.port}`)]);
      await expect.poll(() => received.length).toBe(lines.length);
      await client.endAsync();
      for (const [topic, body] of received) {
        const name = /\/cmd\/(\w+)$/.exec(topic)?.[1];
        if (name === undefined) {
          expect(topic).toMatch(/\/config\/desired$/);
          const document = readDocument('device', body);
          if (typeof document === 'string') throw new Error(document);
          expect(resolveDesired(testConfig(), [document]).errors).toEqual([]);
          continue;
        }
        const { args } = commandRequestSchema.parse(body);
        expect(COMMANDS[name as CommandName].args.safeParse(args).error, name).toBeUndefined();
      }
      const commands = received.flatMap(([topic]) => /\/cmd\/(\w+)$/.exec(topic)?.[1] ?? []);
      expect(new Set(commands)).toEqual(new Set(Object.keys(COMMANDS)));
    });
  },
);
