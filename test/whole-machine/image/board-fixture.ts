/** Cards, boards, and the owner on this machine's loopback. Everything is ended after each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { type Fixture, OWNER } from '../kiosk.ts';
import { type Owner, startOwner } from '../owner.ts';
import { type Board, type BoardName, makeSshKey, powerOn } from './board.ts';
import { type Card, flash } from './card.ts';
import { CARD_BYTES } from './kiosk.ts';

export interface BoardFixture {
  readonly owner: Owner;
  readonly sshKey: { readonly file: string; readonly publicKey: string };
  /** A new card with the image written to it. */
  newCard(bytes?: number): Card;
  /** Copies a card in its present state. */
  copy(card: Card): Card;
  /** Switches a board on with this card in it. */
  boot(card: Card, board?: BoardName, state?: 'worn'): Promise<Board>;
  close(): Promise<void>;
}

/** Options of the service, which echoes its input. */
const EMULATOR = [
  '--translate',
  'echo',
  '--setup-ms',
  '300',
  '--set',
  'recordBytes=50000000',
  '--allow-host',
  OWNER,
];

export async function openBoardFixture(image: string, bundles: string): Promise<BoardFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-board-'));
  const owner = await startOwner({ bundles, names: [OWNER], streamHost: OWNER, emulator: EMULATOR });
  const sshKey = makeSshKey(folder);
  const boards: Board[] = [];
  let count = 0;
  return {
    owner,
    sshKey,
    newCard: (bytes = CARD_BYTES) => {
      count += 1;
      return flash(image, join(folder, `card-${count}.img`), bytes);
    },
    copy: (card) => {
      count += 1;
      return flash(card.file, join(folder, `card-${count}.img`), CARD_BYTES);
    },
    async boot(card, board = 'virt', state) {
      const on = await powerOn({
        board,
        card,
        folder: join(folder, `board-${boards.length}`),
        ports: { 8883: owner.brokerPort, 443: owner.servicePort },
        sshPort: await freePort(),
        sshKey: sshKey.file,
        isWorn: state === 'worn',
      });
      boards.push(on);
      return on;
    },
    async close() {
      for (const board of boards) await board.cutPower();
      await owner.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A fixture for the helpers that speak and listen on any machine. */
export function asFixture(board: Board, owner: Owner, card: Card): Fixture {
  const never = () => Promise.reject(new Error('a card has no saved states'));
  return {
    machine: {
      ...board,
      bootMs: 0,
      usbSound: '',
      consoleBeforeCut: () => '',
      save: never,
      load: never,
      written: never,
      cutPower: never,
      setClock: never,
      stop: () => board.cutPower(),
    },
    owner,
    disk: card.file,
    close: () => board.cutPower(),
  };
}
