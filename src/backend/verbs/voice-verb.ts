import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { readBoundedFile, UnreadableFile } from '../../adapters/config/read-file.ts';
import { unreadableReason } from '../../adapters/config/text-file.ts';
import {
  examineSample,
  LARGEST_SAMPLE_BYTES,
  type SampleFindings,
} from '../../adapters/voice/voice-sample.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import {
  type CloneVoiceRequest,
  cloneVoiceRequestSchema,
  SAMPLE_MIME_TYPES,
  type VoiceRecord,
} from '../../protocol/service/voice.ts';
import { CONFIG_OPTION, openConfig, withService } from '../config/open-config.ts';
import type { ServiceClient } from '../service/service-client.ts';

interface CloneOptions {
  config?: string;
  name: string;
  file: string;
  type?: string;
  language?: string;
  description?: string;
  label?: Record<string, string>;
  denoise?: true;
  normalize?: true;
  wait?: number;
  json?: true;
}
type StatusOptions = Pick<CloneOptions, 'config' | 'wait' | 'json'>;

const ITEM_ID = 'sample-1';
const POLL_MS = 2000;

const seconds = (text: string): number => {
  const value = Number(text);
  if (!(value >= 0 && value <= 3600)) throw new Failure('--wait takes seconds from 0 to 3600', EXIT.usage);
  return value;
};
const label = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new Failure('--label takes KEY=VALUE', EXIT.usage);
  return { ...before, [key]: value };
};

/** `voice clone|status`: makes a voice from a recording. The account's JWT never leaves the backend. */
export function addVoiceVerb(program: Command, shell: Shell): void {
  const voice = program.command('voice').description('clone a voice from a recording');
  voice
    .command('clone')
    .description('register a sample, upload it, and print the id of the voice')
    .requiredOption('-n, --name <name>', 'name of the voice, 3 to 64 characters')
    .requiredOption(
      '-f, --file <file>',
      'clean recording of one speaker, 10 s or more, better 30 s, at most 10 MB',
    )
    .option('--type <mime>', `one of ${SAMPLE_MIME_TYPES.join(', ')} (default: by the file's content)`)
    .option('--language <code>', 'language that is spoken in the recording')
    .option('--description <text>', 'description of the voice')
    .option('--label <key=value>', 'a label such as gender=female; may be repeated', label)
    .option('--denoise', 'the recording has background noise')
    .option('--normalize', 'the recording needs its loudness evened out')
    .option('--wait <seconds>', 'longest wait until the voice is ready', seconds)
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"voice": {"voice_id", "name", "processing_status", ...}}')
    .addHelpText(
      ...examples(
        'dragoman-backend voice clone --config backend.json \\\n    --name guide --file guide.wav --wait 120',
      ),
    )
    .action((options: CloneOptions) => clone(shell, options));
  voice
    .command('status')
    .description('print the state of a cloned voice')
    .argument('<id>', 'id of the voice')
    .option('--wait <seconds>', 'longest wait until the voice is ready', seconds)
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"voice": {"voice_id", "name", "processing_status", ...}}')
    .addHelpText(
      ...examples(
        'dragoman-backend voice status --config backend.json \\\n    0b8e6c1a-3f52-4d7e-9c40-5a1d2e3f4b5c',
      ),
    )
    .action((id: string, options: StatusOptions) => status(shell, id, options));
}

async function clone(shell: Shell, options: CloneOptions): Promise<void> {
  readCloneRequest(options, basename(options.file), options.type ?? 'audio/wav');
  const { bytes, name, type } = await readSample(options, shell);
  const request = readCloneRequest(options, name, type);
  const opened = openConfig(shell, options.config, 'jwtFile');
  const voice = await withService(opened, async (service) => {
    const created = await service.cloneVoice(request);
    const target = created.samples.find(({ item_id }) => item_id === ITEM_ID) ?? created.samples[0];
    if (target === undefined)
      throw new Failure('the service sent no upload address for the sample; try again later');
    await service.uploadSample(target, { name, type, bytes });
    return options.wait === undefined ? created : waitUntilSettled(service, created, options.wait);
  });
  report(shell, voice, options);
}

async function status(shell: Shell, id: string, options: StatusOptions): Promise<void> {
  const opened = openConfig(shell, options.config, 'jwtFile');
  const voice = await withService(opened, async (service) => {
    const found = await service.getVoice(id);
    if (found === null) throw new Failure(`there is no voice ${id}; check the id`);
    return options.wait === undefined ? found : waitUntilSettled(service, found, options.wait);
  });
  report(shell, voice, options);
}

/** @throws Failure that names an option that the service would refuse */
function readCloneRequest(options: CloneOptions, filename: string, type: string): CloneVoiceRequest {
  const sample = {
    filename,
    mime_type: type,
    item_id: ITEM_ID,
    ...(options.denoise && { denoise: true }),
    ...(options.normalize && { speech_normalization: true }),
    ...(options.language !== undefined && { lang_code: options.language }),
  };
  const parsed = cloneVoiceRequestSchema.safeParse({
    data: {
      name: options.name,
      samples: [sample],
      ...(options.description !== undefined && { description: options.description }),
      ...(options.label !== undefined && { labels: options.label }),
    },
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Failure(
    `${String(issue?.path.at(-1) ?? 'the request')}: ${issue?.message ?? 'wrong'}`,
    EXIT.usage,
  );
}

interface Sample {
  readonly bytes: Buffer;
  /** File name for the service, with the extension that fits the content. */
  readonly name: string;
  readonly type: string;
}

/** Reads and checks the recording before anything is sent. @throws Failure if no voice can be made from it */
async function readSample({ file, type, denoise }: CloneOptions, shell: Shell): Promise<Sample> {
  const bytes = readRecording(file);
  const { kind, faults, warnings } = await examineSample(bytes);
  if (kind === null || faults.length > 0)
    throw new Failure(`the recording ${file} ${faults.join(', and it ')}`, EXIT.usage);
  if (type !== undefined && !kind.types.some((one) => one === type))
    throw new Failure(`the recording ${file} is ${kind.name}, not ${type}: leave --type out`, EXIT.usage);
  const name = nameFor(file, kind);
  const renamed = name === basename(file) ? [] : [`is ${kind.name}: it is sent as "${name}"`];
  const shown = warnings.filter((one) => !(denoise && one.includes('--denoise')));
  for (const warning of [...shown, ...renamed])
    shell.complain(textLine(`warning: the recording ${file} ${warning}.`));
  return { bytes, name, type: type ?? kind.types[0] };
}

function nameFor(file: string, { endings }: NonNullable<SampleFindings['kind']>): string {
  const ending = extname(file);
  if (endings.includes(ending.toLowerCase())) return basename(file);
  return `${basename(file, ending)}${endings[0]}`;
}

function readRecording(file: string): Buffer {
  try {
    return readBoundedFile(file, LARGEST_SAMPLE_BYTES).bytes;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new Failure(`the recording ${file} cannot be read${unreadableReason(error)}`, EXIT.usage);
  }
}

async function waitUntilSettled(
  service: ServiceClient,
  voice: VoiceRecord,
  waitS: number,
): Promise<VoiceRecord> {
  const clock = createSystemClock();
  const end = clock.now() + waitS * 1000;
  let last = voice;
  while (last.processing_status !== 'ready' && last.processing_status !== 'failed') {
    const left = end - clock.now();
    if (left <= 0) return last;
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, left)));
    last = (await service.getVoice(voice.voice_id)) ?? last;
  }
  return last;
}

function report(shell: Shell, voice: VoiceRecord, options: StatusOptions): void {
  const { voice_id, name, processing_status, processing_result } = voice;
  const problems = (processing_result?.errors ?? []).map((error) => JSON.stringify(error));
  if (options.json) {
    // The upload targets are credentials: they are not printed.
    const { samples: _, ...shown } = voice;
    shell.print(jsonLine({ voice: shown }));
  } else {
    shell.print(textLine(`${voice_id}  ${name}  ${processing_status}`));
    for (const problem of problems) shell.print(textLine(`  ${problem}`));
  }
  if (processing_status === 'failed') shell.finish(EXIT.failed);
  else if (processing_status !== 'ready' && options.wait !== undefined) shell.finish(EXIT.noAnswer);
}
