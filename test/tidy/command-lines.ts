import type { PageCommand } from './page-commands.ts';

/** What becomes of some command lines of the pages. The first entry that fits a line counts. */
export type Entry = {
  /** A path, or the beginning of several. */
  readonly page: string;
  readonly heading?: string;
  /** All lines, if absent. */
  readonly lines?: RegExp;
} & (
  | {
      /** The test that runs them, or the script that CI runs. */
      readonly ranBy: string;
      /** Its text that proves so: the page whose lines it reads, or their words. */
      readonly as: string | ((line: string) => string);
    }
  /** Why nothing runs them. */
  | { readonly notRun: string }
);

const script = (line: string): string => /npm (?:run )?([\w:]+)/.exec(line)?.[1] ?? line;
const CI = '.ci/run';
const LINES_TEST = 'test/nspawn/page-lines.test.ts';
const ON_LOOPBACK = 'test/e2e/page-lines.test.ts';

export const ENTRIES: readonly Entry[] = [
  {
    page: 'docs/desk.md',
    lines: /^dragoman-backend phrases/,
    ranBy: 'test/backend/verbs/phrases-verb.test.ts',
    as: "'phrases', 'make'",
  },
  {
    page: 'docs/updates.md',
    lines: /^dragoman versions/,
    ranBy: 'test/nspawn/packages-updates.test.ts',
    as: "'dragoman', 'versions'",
  },
  {
    page: 'docs/updates.md',
    lines: /^sudo rm/,
    ranBy: 'test/nspawn/packages-updates.test.ts',
    as: 'docs/updates.md',
  },
  {
    page: 'docs/updates.md',
    lines: /^dragoman-backend rollout/,
    ranBy: 'test/backend/verbs/rollout-verb.test.ts',
    as: 'docs/updates.md',
  },
  {
    page: 'docs/updates.md',
    lines: /^dragoman ctl/,
    notRun: 'test/nspawn/packages-updates.test.ts sends the same commands over MQTT; test/cli/ctl tests ctl',
  },
  {
    page: 'docs/console.md',
    ranBy: 'test/backend/verbs/people-verb.test.ts',
    as: "'people', 'add', name, '--role', role",
  },
  { page: 'docs/sound.md', heading: 'PipeWire', ranBy: 'test/nspawn/pipewire.test.ts', as: 'docs/sound.md' },
  {
    page: 'config/example.jsonc',
    lines: /^pw-/,
    ranBy: 'test/nspawn/pipewire.test.ts',
    as: 'config/example.jsonc',
  },
  {
    page: '',
    lines: /^touch \/run\/dragoman\/reboot$/,
    ranBy: 'test/nspawn/reboot.test.ts',
    as: '/run/dragoman/reboot',
  },
  {
    page: 'docs/sound.md',
    lines: /^npm install --prefix/,
    ranBy: CI,
    as: 'alsa-capture@0.3 speaker@0.5',
  },
  {
    page: 'docs/sound.md',
    lines: /^sudo/,
    notRun: 'the containers have no network; run by hand on Debian 13 with Node 20 of Debian',
  },

  { page: 'README.md', lines: /--fault|--seconds|--input|--json/, ranBy: 'test/e2e/demo.ts', as: 'faults' },
  { page: 'README.md', lines: /--real-mic/, ranBy: 'test/card/program.test.ts', as: '--real-mic' },
  {
    page: '',
    lines: /^npm run demo -- --web$/,
    ranBy: 'test/build/web-demo.test.ts',
    as: "'demo', '--web'",
  },
  {
    page: '',
    lines: /^npm run demo -- --desk$/,
    ranBy: 'test/e2e/desk.test.ts',
    as: 'demo -- --desk',
  },
  {
    page: 'docs/screen.md',
    lines: /^chromium /,
    notRun: 'opens a window; test/screen drives the same browser without one',
  },
  {
    page: 'docs/screen.md',
    lines: /^sudo apt install fonts-/,
    notRun: 'the containers have no network; test/deb checks that the package recommends these fonts',
  },
  { page: '', lines: /^npm ci(?: && npm run (?:build|demo)| && npm test)?$/, ranBy: CI, as: 'npm ci' },
  { page: '', lines: /^npm (?:test|run (?:build|demo|conformance))$/, ranBy: CI, as: (line) => line },
  {
    page: '',
    lines: /^npm run test:(?:fast|coverage|others|card|screen|console|systemd|packages|arm)$/,
    ranBy: CI,
    as: script,
  },
  { page: '', lines: /^npm run lint && npm run typecheck$/, ranBy: CI, as: 'npm run lint' },
  { page: '', lines: /^npm run sim /, ranBy: CI, as: 'npm run --silent sim' },
  {
    page: '',
    lines: /^npm run (?:test:(?:long|device|image)|voices|echo|check)$/,
    ranBy: 'scripts/check-all.mjs',
    as: script,
  },
  { page: '', lines: /^npm run test:all$/, notRun: 'npm test and test:long in one run, an hour' },
  { page: '', lines: /^npm run check:all$/, notRun: 'takes hours; run before a release' },
  { page: '', lines: /^npm run generate$/, ranBy: 'test/docs/generated.test.ts', as: 'generate' },
  {
    page: '',
    lines: /^npm run mutate /,
    notRun: 'takes hours; its parts are tested in test/scripts/mutations.test.ts',
  },
  {
    page: '',
    lines: /^npm run bench( -- --against REF)?$/,
    notRun: 'measures a quiet machine; its parts are tested in test/scripts/bench',
  },

  {
    page: 'docs/fleet.md',
    heading: 'From no broker to twenty kiosks',
    ranBy: 'test/e2e/fleet-page.test.ts',
    as: 'docs/fleet.md',
  },
  {
    page: 'docs/fleet.md',
    heading: 'The login of a kiosk',
    ranBy: 'test/nspawn/packages-admin.test.ts',
    as: "linesOf('docs/fleet.md', 'The login of a kiosk')",
  },
  {
    page: 'docs/fleet.md',
    lines: /devices template/,
    ranBy: 'test/backend/broker/template.test.ts',
    as: "'template'",
  },
  {
    page: 'docs/fleet-security.md',
    heading: 'A device that fills the broker',
    ranBy: 'test/backend/broker/retained-flood.test.ts',
    as: 'docs/fleet-security.md',
  },
  {
    page: 'docs/fleet-security.md',
    lines: /devices renew/,
    ranBy: 'test/backend/broker/renewal.ts',
    as: "'renew'",
  },
  { page: 'docs/fleet.md', lines: /^dragoman ctl/, ranBy: 'test/cli/ctl/ctl.test.ts', as: "'languages'" },
  { page: 'docs/mqtt.md', ranBy: 'test/docs/mqtt-lines.test.ts', as: 'docs/mqtt.md' },
  {
    page: 'README.md',
    lines: /^node dist|^\(umask/,
    ranBy: ON_LOOPBACK,
    as: "linesOf('README.md', 'Install on a kiosk')",
  },
  { page: '', lines: /^npm run bench:fleet -- --quick/, ranBy: CI, as: 'bench:fleet -- --quick' },
  { page: 'docs/scale.md', lines: /^npm run bench:fleet/, notRun: 'the same program, for many minutes' },
  { page: 'docs/backend.md', ranBy: ON_LOOPBACK, as: "linesOf('docs/backend.md'," },

  {
    page: 'docs/install.md',
    heading: 'From a Debian to an interpreting kiosk',
    lines: /^(?!scripts|scp)/,
    ranBy: 'test/whole-machine/install-page.ts',
    as: 'docs/install.md',
  },
  { page: 'docs/releasing.md', lines: /^rsync /, notRun: 'copies to another machine' },
  {
    page: 'docs/releasing.md',
    lines: /^(?!npm|tar|git|sha256sum dragoman-\d)/,
    ranBy: 'test/nspawn/packages-channel.test.ts',
    as: 'docs/releasing.md',
  },
  { page: '', lines: /^scripts\/build-deb /, ranBy: 'test/deb/packages.test.ts', as: 'scripts/build-deb' },
  { page: 'docs/install.md', lines: /^scp /, notRun: 'copies to another machine' },
  {
    page: 'docs/install.md',
    lines: /^dragoman devices/,
    ranBy: 'test/cli/devices/real-meter.test.ts',
    as: '--meter',
  },
  {
    page: '',
    lines: /dragoman (?:doctor|devices)|sudoedit/,
    ranBy: 'test/whole-machine/install-page.ts',
    as: 'docs/install.md',
  },
  {
    page: 'docs/install.md',
    heading: 'A card without a screen',
    ranBy: 'test/whole-machine/image/lines.test.ts',
    as: 'docs/install.md',
  },
  {
    page: '',
    lines: /install .*(?:--dry-run|debs?\b)/,
    ranBy: 'test/nspawn/packages.test.ts',
    as: '--dry-run',
  },
  {
    page: '',
    lines: /install --uninstall/,
    ranBy: 'test/nspawn/packages-trouble.test.ts',
    as: '--uninstall',
  },
  { page: 'docs/install.md', heading: 'By hand, without packages', ranBy: LINES_TEST, as: 'docs/install.md' },
  { page: 'docs/operate.md', heading: 'Under systemd', ranBy: LINES_TEST, as: 'docs/operate.md' },
  {
    page: 'docs/install.md',
    heading: 'Names, addresses and proxies',
    notRun: 'needs systemd-resolved and a network with multicast',
  },
  { page: 'docs/releasing.md', notRun: 'makes a release from its tag' },
  { page: 'test/conformance/README.md', ranBy: CI, as: 'DRAGOMAN_CONFORMANCE_URL' },
];

export const entryOf = ({ page, heading, line }: PageCommand): Entry | undefined =>
  ENTRIES.find(
    (entry) =>
      page.startsWith(entry.page) &&
      (entry.heading === undefined || entry.heading === heading) &&
      (entry.lines === undefined || entry.lines.test(line)),
  );
