import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';
import { boot, type Machine } from './container.ts';
import { until } from './kiosk.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['docs/sound.md', 'config/example.jsonc'];

/** A microphone that hears only its own loudspeaker. */
const ROOM = `context.objects = [{ factory = adapter, args = {
  factory.name = support.null-audio-sink, node.name = room, media.class = Audio/Duplex
  audio.position = MONO, audio.rate = 24000, object.linger = true } }]
`;
/** PipeWire as in a user's session; its session manager needs a message bus. */
const SESSION = `[Service]
RuntimeDirectory=session
Environment=XDG_RUNTIME_DIR=/run/session HOME=/root
ExecStart=dbus-run-session sh -c 'pipewire & until [ -S /run/session/pipewire-0 ]; do sleep 0.1; done; exec wireplumber'
`;
const IN_SESSION = ['env', 'XDG_RUNTIME_DIR=/run/session', 'HOME=/root'];

const debian = inject('debian');
/** PipeWire 0.3 of Debian 12 has no "--raw" and needs none; later versions write and expect a header without it. */
const isRaw = debian.suite !== 'bookworm';
const lines = PAGES.map((page) => ({
  page,
  commands: commandsOf(page, readFileSync(`${ROOT}${page}`, 'utf8')).flatMap(({ words }) =>
    words?.[0]?.startsWith('pw-') && words.includes('--raw') === isRaw ? [words] : [],
  ),
})).filter(({ commands }) => commands.length > 0);

describe(
  `PipeWire, Debian ${debian.suite}${debian.missing === null ? '' : `: skipped, ${debian.missing}`}`,
  needs(debian.missing),
  () => {
    let machine: Machine;
    beforeAll(async () => {
      if (debian.missing !== null) return;
      machine = await boot(debian);
      await machine.write('/etc/pipewire/pipewire.conf.d/room.conf', ROOM);
      await machine.write('/etc/systemd/system/session.service', SESSION);
      await machine.must(['systemctl', 'start', 'session']);
      // The session manager gives it its ports.
      await until('the room has ports', async () =>
        (await machine.run([...IN_SESSION, 'pw-link', '-io'])).stdout.includes('room:'),
      );
    });
    afterAll(() => machine?.stop());

    it('has lines in the pages', () => {
      expect(lines.map(({ page }) => page)).toContain('docs/sound.md');
    });

    it.each(lines)('records and plays with the command lines of $page', async ({ commands }) => {
      const [record = [], play = []] = ['pw-record', 'pw-play'].map(
        (program) => commands.find(([first]) => first === program) ?? [],
      );
      // Silence from its first byte on: no header.
      const silence = await machine.must([
        ...IN_SESSION,
        'sh',
        '-c',
        '"$@" | head -c 96000 | tr -d "\\000" | wc -c',
        'sh',
        ...record,
      ]);
      expect(Number(silence)).toBe(0);
      await hearsItself({ driver: 'command', command: record }, { driver: 'command', command: play });
    });

    it('records and plays with ALSA’s device "pipewire"', async () => {
      expect(readFileSync(`${ROOT}docs/sound.md`, 'utf8')).toContain(
        '"driver": "alsa", "device": "pipewire"',
      );
      const part = { driver: 'alsa', device: 'pipewire' };
      await hearsItself(part, part);
    });

    /** Doctor plays its tone and hears it, with the drivers of the agent. */
    async function hearsItself(capture: object, playback: object): Promise<void> {
      const config = {
        device: { id: 'kiosk-01', tenant: 'museum' },
        mqtt: { url: 'mqtt://127.0.0.1:1883' },
        lanes: [{ source: 'en', targets: ['es'], capture, playback }],
      };
      await machine.write('/srv/config.json', JSON.stringify(config));
      const only = ['--only', 'capture', '--only', 'playback', '--json'];
      const words = [
        ...IN_SESSION,
        '/usr/bin/node',
        '/opt/dragoman/dragoman.mjs',
        'doctor',
        '--config',
        '/srv/config.json',
        ...only,
      ];
      // A busy machine leaves gaps in the tone, and then it is played again.
      let said = '';
      await until('the tone is heard', async () => {
        const { stdout, stderr } = await machine.run(words);
        said = `${stdout}${stderr}`;
        return said.includes('tone heard back') && !said.includes('"problem"');
      }).catch((error) => {
        throw new Error(`${String(error)}\n${said}`);
      });
    }
  },
);
