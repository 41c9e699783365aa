/**
 * Runs the lines of docs/install.md for a card, in a folder with only the sources; then starts a board with the card, which
 * interprets. DRAGOMAN_IMAGES names a folder with a finished image, which saves ten minutes.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, interpret, inWords, LANE, OWNER, plugCards, ready } from '../kiosk.ts';
import { brokerFile } from '../owner-folder.ts';
import { makeTones } from '../tones.ts';
import { asFixture, type BoardFixture, openBoardFixture } from './board-fixture.ts';
import { openCard } from './card.ts';
import { CARD_BYTES, FILE, LOGIN_LIMIT_MS, STATUS } from './kiosk.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const execute = promisify(execFile);
const flashable = inject('flashable');
const { missing } = flashable;
const MADE_BEFORE = process.env['DRAGOMAN_IMAGES'];
const TONES_S = 60;
const LINE_LIMIT_MS = 1_800_000;

/** Replacements for programs that need a person or hardware: editor, card reader, interactive apt. */
const HANDS = `
sudo() { "$@"; }
editor() { cp ../filled-in "$1"; }
eject() { sync "$1"; }
apt() {
  shift
  for package; do dpkg-query -W "$package" >/dev/null 2>&1 || apt-get install -yq --no-install-recommends "$package"; done
}
`;

function linesOfThePage(): string[] {
  const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
  const [, section = ''] = page.split('\n## A card without a screen\n');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  return block
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, ''))
    .filter((line) => line !== '');
}

describe('from an empty folder to the first translated sentence', needs(missing), () => {
  let fixture: BoardFixture;
  let folder: string;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
    folder = mkdtempSync(join(tmpdir(), 'dragoman-lines-'));
  });
  afterAll(async () => {
    await fixture?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const work = (): string => join(folder, 'dragoman');
  const cardFile = (): string => join(folder, 'card.img');

  /** A line of the page, adapted to the card and the broker of this test. */
  function here(line: string): string {
    const inCard = line.includes('/dev/sdX1')
      ? `${cardFile()}@@${openCard(cardFile()).partition(1).start}`
      : '';
    const made =
      MADE_BEFORE !== undefined && line.includes('build-image') ? `ln -s ${MADE_BEFORE} images` : line;
    return (
      made
        .replaceAll('/dev/sdX1', inCard)
        .replaceAll('/dev/sdX', cardFile())
        // In these tests the device already has a login.
        .replace('--count 20', '--count 1 --replace')
    );
  }

  it('works by the ten lines of docs/install.md', { timeout: 3_600_000 }, async ({ annotate }) => {
    const { owner, sshKey } = fixture;
    execFileSync('git', ['clone', '--quiet', ROOT, work()]);
    symlinkSync(owner.folder, join(work(), 'museum'));
    const template = {
      timeZone: 'Europe/Berlin',
      config: { service: { hosts: [OWNER], caFile: '/etc/dragoman/broker-ca.crt' }, lanes: [LANE] },
      sshKeys: [sshKey.publicKey],
    };
    writeFileSync(join(folder, 'filled-in'), JSON.stringify(template, null, 2));
    const lines = linesOfThePage();
    expect(lines).toHaveLength(10);
    const later = lines.filter((line) => line.includes('mtype'));
    const startedAt = performance.now();
    for (const line of lines.filter((one) => !later.includes(one))) {
      const began = performance.now();
      if (line.includes('mcopy')) wire();
      const words = ['-euo', 'pipefail', '-c', `${HANDS}\n${here(line)}`];
      await execute('bash', words, { cwd: work(), timeout: LINE_LIMIT_MS, maxBuffer: 2 ** 26 });
      await annotate(`${inSeconds(performance.now() - began)}: ${line}`);
    }
    // As "devices template" prints: restart the broker with its new rules. The broker of the tests keeps this user.
    appendFileSync(brokerFile(owner.folder), 'user root\n');
    await owner.stopBroker();
    await owner.startBroker();
    truncateSync(cardFile(), CARD_BYTES);
    const card = openCard(cardFile());
    const board = await fixture.boot(card);
    const login = await board.untilLogin(LOGIN_LIMIT_MS);
    const on = asFixture(board, owner, card);
    const tones = makeTones(TONES_S);
    await board.write(
      '/srv/goods/tones.raw',
      new Uint8Array(tones.buffer, tones.byteOffset, tones.byteLength),
    );
    await plugCards(on);
    await ready(on, LOGIN_LIMIT_MS);
    let first = 0;
    const { ended } = await interpret(on, 10, async () => {
      await until('the first sound', async () => hasSound(await board.sh(SOUND)), 120_000);
      first = performance.now();
    });
    await annotate(
      `login ${inSeconds(login)} after power; first sound of the translation ${inSeconds(first - board.startedAt)} after power, ` +
        `${inSeconds(first - startedAt)} after the first line; ${inWords(ended)}`,
    );
    expect(ended.tones.filter((tone) => tone >= 0).length).toBeGreaterThan(10);
    await board.sh('sync');
    await board.cutPower();
    const words = ['-euo', 'pipefail', '-c', `${HANDS}\n${here(later[0] ?? '')}`];
    expect((await execute('bash', words, { cwd: work() })).stdout).toContain('Result: applied.');
    expect(card.read(FILE)).not.toContain(readFileSync(join(owner.login, 'mqtt-password'), 'utf8').trim());
    expect(card.read(STATUS)).not.toBeNull();
  });

  /** Changes addresses: the board reaches this machine's loopback under another address. */
  function wire(): void {
    const file = join(work(), 'cards/kiosk-01', FILE);
    const text = readFileSync(file, 'utf8').replace(/mqtts:\/\/127\.0\.0\.1:\d+/, `mqtts://${OWNER}:8883`);
    writeFileSync(file, text);
  }
});

/** Counts the first non-zero byte of the recording: it is digital silence until speech is played. */
const SOUND = "tr -d '\\000' </run/said.raw | head -c 1 | wc -c";
const hasSound = (bytes: string): boolean => bytes.trim() === '1';
