import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { linesOfThePage } from '../install-page.ts';
import {
  configuration,
  eventsOf,
  expectWhole,
  handOver,
  inSeconds,
  interpret,
  inWords,
  listen,
  live,
  phaseOf,
  pidOf,
  ready,
  SERVICE,
  silence,
  speak,
  statusOf,
  wait,
} from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';
import { NEXT_VERSION, VERSION } from '../setup.ts';
import { timed } from '../slowness.ts';
import { TONE_MS } from '../tones.ts';

/** Upper limit of the speed at which delayed sound is played; its pitch rises, too. */
const MOST_HASTE = 1.05;

onMachine('a device', ({ onNewMachine, onDevice }) => {
  onNewMachine('installs and interprets by the lines of docs/install.md', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    // The installing user: may become root, and has a folder with the copied files.
    await machine.sh(
      'useradd -m -d /srv/visitor -s /bin/sh visitor; echo "visitor ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/visitor; cp -r /srv/goods/. /srv/visitor',
    );
    await machine.write('/srv/visitor/filled-in', configuration());
    await machine.write('/usr/bin/editor', '#!/bin/sh\ncp /srv/visitor/filled-in "$1"\n', '0755');
    const startedAt = performance.now();
    for (const { line, isAnswered } of linesOfThePage()) {
      const words = ['runuser', '-u', 'visitor', '--', 'sh', '-c', `cd /srv/visitor; ${line}`];
      const password = readFileSync(`${owner.login}/mqtt-password`, 'utf8');
      const { code, stdout, stderr } = await machine.run(words, isAnswered ? password : '', 240_000);
      const said = `${line}: ${code}\n${stdout}${stderr}`;
      if (line.includes('doctor')) expect([0, 3], said).toContain(code);
      else expect(code, said).toBe(0);
      if (line.includes('devices')) expect(said).toMatch(/plughw:CARD=Mic[\s\S]*plughw:CARD=Speaker/);
      if (line.includes('check-config')) expect(said).toContain('museum');
      if (line.includes('systemctl status')) expect(said).toContain('active (running)');
      if (line.includes('doctor'))
        for (const part of ['broker', 'stream', 'capture']) expect(said).toContain(part);
      // The page does not contain the authority of the owner's broker.
      if (line.includes('sudoedit')) await handOver(fixture);
    }
    const took = performance.now() - startedAt;
    await live(fixture);
    await annotate(`from the first line to the last ${inSeconds(took)}`);
    expect(await machine.must(['dpkg', '-s', 'dragoman'])).toContain(`\nVersion: ${VERSION}\n`);
  });

  onDevice('interprets a recording through the kernel’s sound cards', async (fixture, { annotate }) => {
    const { ended, startedAt } = await interpret(fixture, 30);
    await annotate(inWords(ended));
    expectWhole(ended);
    timed(() => {
      expect(ended.tones.length).toBeGreaterThan(100);
      expect(eventsOf(fixture, 'speech_lost', startedAt)).toEqual([]);
    });
    expect(Math.abs(ended.levelDbfs - -15.3)).toBeLessThan(1);
  });

  onDevice(
    'continues when its microphone is unplugged and returns with another index',
    async (fixture, { annotate }) => {
      const { machine } = fixture;
      const before = Number(await machine.sh('readlink /proc/asound/Mic | tr -dc 0-9'));
      await speak(fixture, 60);
      await ready(fixture);
      const pulledAt = performance.now();
      await machine.sh('echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/unbind');
      const noticed = await until(
        'the missing device is reported',
        async () => statusOf(fixture) === 'degraded',
        60_000,
      );
      expect(fixture.owner.newest('status')?.['reasons']).toEqual([expect.stringMatching(/^capture:/)]);
      // Another card takes the free index.
      await machine.sh(
        'modprobe snd-dummy index=0 id=Other; echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/bind',
      );
      expect(Number(await machine.sh('readlink /proc/asound/Mic | tr -dc 0-9'))).not.toBe(before);
      const putBackAt = performance.now();
      // The unit's name is free only after systemd has forgotten the previous one.
      await silence(fixture);
      await speak(fixture, 30);
      await ready(fixture, 90_000);
      const back = performance.now() - putBackAt;
      const listening = await listen(fixture);
      await wait(10_000);
      const heard = await listening.end();
      await silence(fixture);
      await annotate(
        `reported after ${inSeconds(noticed)}, ready ${inSeconds(back)} after its return; then ${inWords(heard)}`,
      );
      timed(() => expect(heard.tones.length).toBeGreaterThan(40));
      expect(eventsOf(fixture, 'audio_lost', pulledAt)).not.toEqual([]);
      expect(eventsOf(fixture, 'audio_back', pulledAt)).not.toEqual([]);
      await machine.sh('rmmod snd-dummy');
    },
  );

  onDevice('continues without a loss when its network is cut for seconds', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    const { ended, startedAt } = await interpret(fixture, 40, async () => {
      await wait(8000);
      await machine.monitor('set_link wire off');
      await wait(8000);
      await machine.monitor('set_link wire on');
    });
    await annotate(inWords(ended));
    // Faster sound has a higher pitch, so that its tones are unclear. That many missing tones are not a loss.
    const hastened = (MOST_HASTE * ended.unclearMs) / TONE_MS;
    const missing = Math.max(0, ended.missing - hastened);
    expectWhole({ ...ended, missing, unclearMs: 0 });
    timed(() => expect(eventsOf(fixture, 'speech_lost', startedAt)).toEqual([]));
    await until('it is live', async () => phaseOf(fixture) === 'live', 60_000);
    expect(await owner.command('status')).toMatchObject({ status: 'ok' });
  });

  onDevice('continues when the broker restarts', async (fixture, { annotate }) => {
    const { owner } = fixture;
    const { ended } = await interpret(fixture, 30, async () => {
      await wait(5000);
      await owner.stopBroker();
      await wait(5000);
      await owner.startBroker();
    });
    const asked = performance.now();
    await until(
      'it answers',
      async () => (await owner.command('status', {}, 3000))?.['status'] === 'ok',
      90_000,
    );
    await annotate(`${inWords(ended)}; it answers ${inSeconds(performance.now() - asked)} after that`);
    expectWhole(ended);
  });

  onDevice('interprets again after its agent was killed', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    const before = await pidOf(fixture);
    owner.forget();
    const killedAt = performance.now();
    await machine.must(['systemctl', 'kill', '--signal=SIGKILL', SERVICE]);
    await until('another process', async () => ![0, before].includes(await pidOf(fixture)), 60_000);
    await live(fixture);
    await annotate(`live ${inSeconds(performance.now() - killedAt)} after that`);
    expectWhole((await interpret(fixture, 8)).ended);
  });

  onDevice(
    'continues with the new version when it is upgraded during speech',
    async (fixture, { annotate }) => {
      const { machine, owner } = fixture;
      const config = await machine.read('/etc/dragoman/config.json');
      const { ended } = await interpret(fixture, 55, async () => {
        await wait(5000);
        owner.forget();
        await machine.sh('dpkg -i /srv/goods/next/dragoman_*.deb');
        await live(fixture);
      });
      await annotate(
        `silent for ${inSeconds(ended.gap.ms)}, ${ended.gap.before} tones before that, ${ended.gap.after} after it`,
      );
      timed(() => {
        expect(ended.gap.before).toBeGreaterThan(10);
        expect(ended.gap.after).toBeGreaterThan(10);
      });
      expect(await machine.must(['dpkg', '-s', 'dragoman'])).toContain(`\nVersion: ${NEXT_VERSION}\n`);
      expect((await machine.read('/etc/dragoman/config.json')).equals(config)).toBe(true);
    },
  );
});
