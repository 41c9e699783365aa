import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { decisionsDoNotAct } from './acting-files.ts';
import * as rules from './rules.ts';
import { codeOf, importsOf, type Rule, readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));

const file = (path: string, text = ''): SourceFile => ({ path, text });
const from = (path: string, specifier: string): SourceFile =>
  file(path, `import { x } from '${specifier}';\n`);

const lock = (packages: object): SourceFile => file('package-lock.json', JSON.stringify({ packages }));

/** Each rule with files that break it, one violation each, and files that do not. */
const CASES: [Rule, string, bad: SourceFile[], good: SourceFile[]][] = [
  [
    rules.importsPointOneWay,
    'imports point one way',
    [
      from('src/core/retry/rate.ts', '../../adapters/clock.ts'),
      from('src/core/retry/rate.ts', '../../device/daemon.ts'),
      from('src/sound/pcm.ts', '../device/lane/machine.ts'),
      from('src/protocol/config.ts', '../device/lane.ts'),
      from('src/ports/bus.ts', '../device/lane.ts'),
      from('src/adapters/log.ts', '../device/lane/machine.ts'),
      from('src/machine/throttle.ts', '../device/daemon.ts'),
      from('src/fleet/roster.ts', '../device/status/troubles.ts'),
      from('src/adapters/mqtt/bus.ts', '../../device/daemon.ts'),
      from('src/device/daemon.ts', '../cli/main.ts'),
      from('src/device/daemon.ts', '../backend/backend.ts'),
      from('src/backend/daemon/backend.ts', '../../emulator/server.ts'),
      from('src/emulator/server.ts', '../cli/run/run-verb.ts'),
      from('src/device/daemon.ts', '../program/problem.ts'),
      from('src/device/daemon.ts', '../installer/provision.ts'),
      from('src/installer/provision.ts', '../device/daemon.ts'),
      from('src/adapters/mqtt/bus.ts', '../../installer/core/plan.ts'),
      from('src/program/run-main.ts', '../device/lane.ts'),
      from('src/program/run-main.ts', '../cli/run/run-verb.ts'),
      from('src/page/kiosk/bar.tsx', '../../adapters/clock.ts'),
      from('src/page/kiosk/bar.tsx', '../../device/daemon.ts'),
      from('src/page/kiosk/bar.tsx', '../../device/screen/screen.ts'),
      from('src/device/daemon.ts', '../page/kiosk/bar.tsx'),
      from('src/elsewhere/thing.ts', './other.ts'),
      file('src/core/lane.ts', "import type { X } from '../adapters/clock.ts';"),
      file('src/core/lane.ts', "export { X } from '../adapters/clock.ts';"),
      file('src/core/lane.ts', "import {\n  a,\n  b,\n} from '../adapters/clock.ts';"),
      file('src/core/lane.ts', "import '../adapters/clock.ts';"),
      file('src/core/lane.ts', "type X = import('../adapters/clock.ts').X;"),
    ],
    [
      from('src/cli/main.ts', '../device/daemon.ts'),
      from('src/emulator/cli.ts', '../program/program.ts'),
      from('src/program/problem.ts', '../adapters/redaction.ts'),
      from('src/device/daemon.ts', './lane/machine.ts'),
      from('src/device/daemon.ts', '../core/lane.ts'),
      from('src/backend/broker/templates.ts', '../../installer/document.ts'),
      from('src/adapters/mqtt/bus.ts', '../../ports/bus.ts'),
      from('src/adapters/mqtt/bus.ts', '../../core/reconnect.ts'),
      from('src/core/lane.ts', './hold.ts'),
      from('src/core/lane.ts', '../sound/pcm.ts'),
      from('src/page/kiosk/bar.tsx', '../../device/screen/captions/lines.ts'),
      from('test/core/lane.test.ts', '../../src/cli/main.ts'),
      file('src/core/lane.ts', "// import { x } from '../adapters/clock.ts';"),
    ],
  ],
  [
    rules.pureCodeImportsPureCode,
    'pure code imports pure code',
    [
      from('src/core/lane.ts', 'node:fs'),
      from('src/core/lane.ts', 'ws'),
      from('src/sound/pcm.ts', 'node:fs'),
      from('src/fleet/silence.ts', 'node:fs'),
      from('src/core/lane.ts', 'mqtt'),
      from('src/core/lane.ts', 'pino'),
      from('src/core/lane.ts', 'fs'),
      from('src/emulator/core/stream.ts', 'node:crypto'),
      from('src/emulator/core/stream.ts', '../server.ts'),
      from('src/installer/core/plan.ts', '../document.ts'),
    ],
    [
      from('src/core/lane.ts', 'zod'),
      from('src/core/lane.ts', '../ports/bus.ts'),
      from('src/emulator/core/stream.ts', '../../core/pcm.ts'),
      from('src/emulator/core/stream.ts', './outbox.ts'),
      from('src/emulator/server.ts', 'node:http'),
    ],
  ],
  [
    rules.coreKnowsNoServiceProtocol,
    'the core knows no protocol of a service',
    [
      from('src/device/lane/a.ts', '../../protocol/service/task.ts'),
      from('src/ports/stream.ts', '../protocol/service/error.ts'),
      file('src/device/lane/a.ts', "const isTask = message_type === 'x';"),
      file('src/device/lane/a.ts', '/** Between two `get_task`. */'),
      file('src/device/lane/a.ts', "const kind = 'validated_transcription';"),
    ],
    [
      from('src/device/lane/a.ts', '../../protocol/common/language.ts'),
      from('src/emulator/core/a.ts', '../../protocol/service/task.ts'),
      from('src/adapters/stream/a.ts', '../../protocol/service/task.ts'),
      file('src/adapters/stream/a.ts', "const kind = 'current_task';"),
      file('src/device/lane/a.ts', "const effect = { type: 'send_task' };"),
    ],
  ],
  [
    rules.pureCodeHasNoClockNorChance,
    'pure code has no clock, no chance, no timer, no promise',
    [
      'const now = Date.now();',
      'const now = new Date();',
      'const luck = Math.random();',
      'setTimeout(wake, 5);',
      'const id = setInterval(wake, 5);',
      'clearTimeout(id);',
      'const now = performance.now();',
      'const later: Promise<void> = wait;',
      'async function wait() {}',
      'await wait();',
      'process.exit();',
      'queueMicrotask(wake);',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the code of a template
      'const text = `at ${Date.now()}`;',
      "const address = 'http://x'; const now = Date.now();",
    ].flatMap((text) => [file('src/core/a.ts', text), file('src/emulator/core/a.ts', text)]),
    [
      file('src/core/a.ts', '// Date.now() is not called here\nconst at = new Date(wall).toISOString();'),
      file('src/core/a.ts', "const name = 'performance'; const asyncName = 1;"),
      file('src/core/a.ts', "const pattern = /'/; const x = 1; // Promise"),
      file('src/machine/a.ts', 'await wait();'),
    ],
  ],
  [
    decisionsDoNotAct,
    'decisions do not act',
    [
      from('src/device/lane/session/hold.ts', 'node:fs'),
      from('src/device/desk/desk-rules.ts', 'mqtt'),
      from('src/device/playout/playout.ts', '../../adapters/clock.ts'),
      from('src/device/playout/playout.ts', '../../machine/throttle.ts'),
      from('src/device/limits/budget.ts', '../../ports/clock.ts'),
      from('src/backend/bill/bill.ts', 'hono'),
      file('src/backend/issuing/issuer.ts', 'const now = Date.now();'),
      file('src/device/lane/machine.ts', 'const later: Promise<void> = wait;'),
    ],
    [
      from('src/device/lane/machine.ts', './session/hold.ts'),
      from('src/device/lane/machine.ts', '../../ports/stream.ts'),
      from('src/device/lane/runner/lane-runner.ts', '../../../ports/clock.ts'),
      from('src/device/tokens/tokens.ts', '../../adapters/clock.ts'),
      from('src/device/tokens/tokens-machine.ts', '../../machine/machine.ts'),
      file('src/device/desk/desk-keys.ts', 'await wait();'),
    ],
  ],
  [
    rules.onlyTheClockReadsTheTime,
    'only the clock reads the time',
    ['Date.now()', 'new Date()', 'performance.now()', 'process.uptime()', 'process.hrtime()'].map((text) =>
      file('src/adapters/stream/a.ts', `const now = ${text};`),
    ),
    [
      file('src/adapters/clock.ts', 'const now = performance.now();'),
      file('src/emulator/page-script.ts', 'const now = Date.now();'),
      file('src/page/kiosk/link.ts', 'const now = performance.now();'),
      file('src/device/a.ts', 'const at = new Date(wall).toISOString(); // Date.now() is not asked'),
    ],
  ],
  [
    rules.onlyCommandLinesWrite,
    'only command lines write',
    [
      file('src/device/a.ts', "console.log('x');"),
      file('src/cli/a.ts', "console.log('x');"),
      file('src/adapters/a.ts', "process.stdout.write('x');"),
      file('src/emulator/server.ts', "process.stderr.write('x');"),
    ],
    [
      file('src/cli/a.ts', 'view(process.stdout);'),
      file('src/emulator/cli.ts', 'view(process.stdout);'),
      file('src/backend/main.ts', 'view(process.stderr);'),
      file('src/device/a.ts', "log.info({}, 'console');"),
    ],
  ],
  [
    rules.onlyOnePlacePrints,
    'only one place prints',
    [
      file('src/cli/a.ts', "process.stdout.write('x');"),
      file('src/emulator/cli.ts', 'const { stderr } = process; stderr.write(text);'),
    ],
    [
      file('src/program/run-main.ts', "process.stdout.write('x');"),
      file('src/cli/a.ts', 'shell.print(text); terminal.write(text);'),
    ],
  ],
  [
    rules.fileNamesAreLowerCaseKebab,
    'file names are lower-case and hyphenated',
    [
      file('src/core/laneMachine.ts'),
      file('src/core/Lane.ts'),
      file('src/core/lane_machine.ts'),
      file('src/Core/lane.ts'),
    ],
    [
      file('src/core/lane-machine.ts'),
      file('test/adapters/mqtt/bus.scripted-broker.test.ts'),
      file('README.md'),
      file('LICENSE'),
      file('.ci/run'),
      file('.gitignore'),
    ],
  ],
  [
    rules.nothingNamesAMachine,
    'no file names a machine’s folders or a registry',
    [
      file('README.md', `see ${['', 'home', 'anna', 'dragoman'].join('/')}`),
      file('src/a.ts', `'${['', 'Users', 'anna'].join('/')}'`),
      file('.ci/run', `cd ${['', 'root', 'project'].join('/')}`),
      file('test/a.test.ts', `'${['', 'work', 'main'].join('/')}'`),
      file('package-lock.json', `"${['resol', 'ved'].join('')}": "x"`),
      file('.npmrc', ['https://registry', 'npmjs', 'org/'].join('.')),
    ],
    [file('README.md', 'the lane at work/idle, /etc/dragoman, ./home/page and HOME=/root')],
  ],
  [
    rules.onlyOneFileImportsFastCheck,
    'only one file imports fast-check',
    [from('test/core/a.test.ts', 'fast-check'), from('test/core/lane/b.ts', 'fast-check')],
    [from('test/properties.ts', 'fast-check'), from('test/core/a.test.ts', '../properties.ts')],
  ],
  [
    rules.zodIsImportedAsNamespace,
    'zod is imported as a namespace',
    ["import { z } from 'zod';", "import z from 'zod';"].map((text) =>
      file('src/protocol/common/json.ts', text),
    ),
    [
      file('src/protocol/common/json.ts', "import * as z from 'zod';"),
      file('src/protocol/text.ts', "import type { z } from 'zod';"),
    ],
  ],
  [
    rules.hooksBelongToTests,
    'modules that tests share have no hooks at their top',
    ['beforeAll', 'beforeEach', 'afterAll', 'afterEach'].map((hook) =>
      file('test/device/device.ts', `export const a = 1;\n${hook}(() => {});`),
    ),
    [
      file('test/device/device.test.ts', 'afterAll(() => {});'),
      file('test/device/device.ts', 'export function use() {\n  afterEach(() => {});\n}\n// afterAll(close)'),
    ],
  ],
  [
    rules.testsThatChangeTheProcessAreIsolated,
    'tests that replace modules or change their process are isolated',
    [
      "vi.mock('node:fs');",
      'vi.useFakeTimers();',
      "process.env['PATH'] = folder;",
      'process.umask(0);',
      'process.chdir(folder);',
    ].map((text) => file('test/device/device.test.ts', text)),
    [
      file('test/device/device.test.ts', "const env = { ...process.env, PATH: process.env['PATH'] };"),
      file('test/adapters/time-zone.test.ts', "process.env['TZ'] = zone;"),
      file('test/card/gain.test.ts', "process.env['TZ'] = zone;"),
    ],
  ],
  [
    rules.longTestsHaveAQuickOne,
    'long tests have a quick test beside them',
    [file('test/core/echo.long.test.ts')],
    [file('test/core/echo.test.ts')],
  ],
  [
    rules.lockNamesEveryPlatform,
    'the lock file names the packages of every platform',
    [
      lock({
        'node_modules/a': { optionalDependencies: { '@a/darwin': '1', '@a/linux': '1' } },
        'node_modules/@a/linux': {},
      }),
    ],
    [
      lock({ 'node_modules/a': { optionalDependencies: { b: '1' } }, 'node_modules/a/node_modules/b': {} }),
      file('src/a.ts', 'not JSON'),
    ],
  ],
];

for (const [rule, sentence, bad, good] of CASES) {
  describe(sentence, () => {
    it('holds in this repository', () => {
      expect(rule(TREE)).toEqual([]);
    });

    it.each(bad)('reports $path: $text', (example) => {
      expect(rule([example])).toHaveLength(1);
    });

    it('accepts similar files that do not break it', () => {
      expect(good.flatMap((example) => rule([example]))).toEqual([]);
    });
  });
}

describe('a decision that imports what acts', () => {
  it('is reported over the files between them', () => {
    const files = [
      from('src/device/lane/machine.ts', './steps.ts'),
      from('src/device/lane/steps.ts', '../tokens/client.ts'),
      from('src/device/tokens/client.ts', 'node:fs'),
    ];
    expect(decisionsDoNotAct(files)).toHaveLength(2);
  });
});

describe('the reader of sources', () => {
  it('finds the whole tree', () => {
    const paths = TREE.map(({ path }) => path);
    expect(paths).toContain('src/protocol/config.ts');
    expect(paths).toContain('package.json');
    expect(paths.some((path) => path.includes('node_modules'))).toBe(false);
  });

  it('finds every kind of import', () => {
    const text = `import a from 'a';\nimport * as b from 'b';\nexport * from 'c';\nimport 'd';\nconst e = await import('e');\nimport type { F } from 'f';`;
    expect(importsOf(file('x.ts', text))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('keeps code and removes comments, texts and patterns', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text with the code of a template in it
    const text = 'a(\'x // y\'); /* b */ c("d"); // e\nf = /[/\'"]g/; h(`i ${j} k`);';
    expect(codeOf(file('x.ts', text)).replace(/\s+/g, ' ')).toBe("a(''); c(''); f = / /; h( (j) );");
  });
});
