import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { makeHeader } from '../../adapters/audio/wav.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { parseJsonc } from '../../adapters/config/jsonc.ts';
import { formatPath } from '../../adapters/config/layer.ts';
import { readConfigText, UnreadableFile } from '../../adapters/config/read-file.ts';
import { openPhraseSounds, type PhraseText, type PhraseTrust } from '../../adapters/phrases/phrase-sounds.ts';
import { createSignatureReader } from '../../adapters/signing/reader.ts';
import { createSigner } from '../../adapters/signing/signer.ts';
import type { PrivateKey } from '../../adapters/signing/signing-keys.ts';
import { createWebSocketStreams } from '../../adapters/stream/websocket-stream.ts';
import { systemReason } from '../../adapters/system-error.ts';
import type { SignatureReader } from '../../ports/signature.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { isObject } from '../../protocol/common/json.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { isSpokenLanguage } from '../../protocol/common/service-languages.ts';
import { phrasesSchema } from '../../protocol/config-phrases.ts';
import { LONGEST_PHRASE_S, PHRASE_MANIFEST, type PhraseSound } from '../../protocol/phrase-manifest.ts';
import { CONFIG_OPTION, type Opened, openConfig, withService } from '../config/open-config.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { NotSpoken, speakTexts } from '../service/speak-texts.ts';

interface MakeOptions {
  readonly phrases: string;
  readonly out: string;
  readonly voice?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Time within which the stream must open (s). */
const EXPIRES_S = 60;
/** Longest stream (s): twenty texts take a few minutes. */
const LONGEST_STREAM_S = 900;
const REFERENCE = 'dragoman-phrases';

/** `phrases make`: has the service speak the phrases of the house once, for the cards of the devices. */
export function addPhrasesVerb(program: Command, shell: Shell): void {
  program
    .command('phrases')
    .description('make the sound files of the phrases of the house')
    .command('make')
    .description(
      'have the service speak the texts that have no sound file yet, and write the folder for the devices',
    )
    .requiredOption('--phrases <file>', "a device's configuration with the key phrases, or its dragoman.json")
    .requiredOption('--out <folder>', 'folder to write; sounds that are in it already are kept')
    .option('--voice <id>', 'voice of the service (default: its own)')
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"phrases": {"folder", "made", "kept", "left_out"}}')
    .addHelpText(
      ...examples(
        'dragoman-backend phrases make --config backend.json \\\n    --phrases kiosk.json --out phrases',
      ),
    )
    .action((options: MakeOptions) => make(shell, options));
}

async function make(shell: Shell, options: MakeOptions): Promise<void> {
  const { out } = options;
  const texts = readTexts(options.phrases);
  const opened = openConfig(shell, options.config, 'apiKeyFile');
  const { config, secrets } = opened;
  const { prefix } = config.mqtt;
  if (secrets.signingKey === undefined)
    shell.complain(
      textLine(
        'warning: signingKeyFile is not set: devices with owner.publicKeyFiles only show the phrases.',
      ),
    );
  const spoken = texts.filter(({ language }) => isSpokenLanguage(language));
  const leftOut = [
    ...new Set(texts.filter((text) => !spoken.includes(text)).map(({ language }) => language)),
  ];
  if (leftOut.length > 0)
    shell.complain(
      textLine(`warning: the service does not speak ${leftOut.join(', ')}: these texts are only shown.`),
    );
  const sounds = await soundsIn(out, { signatures: ownSignatures(secrets.signingKey), prefix }, spoken);
  const kept = sounds.length;
  const missing = spoken.filter((text) => !sounds.some((sound) => isOf(sound, text)));
  await withService(opened, async (service) => {
    for (const language of new Set(missing.map((text) => text.language))) {
      const own = missing.filter((text) => text.language === language);
      const pcm = await speakIn(opened, service, language, own, options.voice ?? null);
      for (const [at, text] of own.entries()) sounds.push(writeSound(out, text, pcm[at] ?? new Uint8Array()));
      // After each language: what has been paid for is not lost if the next one fails.
      await writeManifest(out, opened, sounds);
    }
  });
  if (missing.length === 0) await writeManifest(out, opened, sounds);
  const made = missing.length;
  if (options.json) return shell.print(jsonLine({ phrases: { folder: out, made, kept, left_out: leftOut } }));
  shell.print(textLine(`${out}: ${made} made, ${kept} kept.`));
  shell.print(textLine('Copy the folder to phrases.folder of each device.'));
}

const isOf = (sound: PhraseSound, { language, text }: PhraseText): boolean =>
  sound.language === language && sound.text === text;

/** The texts of a configuration, each once. @throws Failure that names the file and the key */
function readTexts(file: string): PhraseText[] {
  const value = readJsoncFile(file);
  const given = isObject(value) && isObject(value['config']) ? value['config'] : value;
  const parsed = phrasesSchema.safeParse(isObject(given) ? given['phrases'] : undefined);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      ({ path, message }) => `${formatPath(['phrases', ...path])} ${message}`,
    );
    throw new Failure(`${file}: the phrases cannot be used:\n  ${lines.join('\n  ')}`, EXIT.usage);
  }
  if (parsed.data === null)
    throw new Failure(`${file} has no phrases: write them to its key "phrases"`, EXIT.usage);
  const texts = parsed.data.list.flatMap((phrase) =>
    Object.entries(phrase).map(([language, text]) => ({ language, text })),
  );
  return texts.filter(
    ({ language, text }, at) =>
      texts.findIndex((one) => one.language === language && one.text === text) === at,
  );
}

function readJsoncFile(file: string): unknown {
  try {
    const parsed = parseJsonc(readConfigText(file));
    if (parsed.ok) return parsed.value;
    const { line, column } = parsed.position;
    throw new Failure(`${file}:${line}:${column}: ${parsed.message}`, EXIT.usage);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new Failure(`${file} cannot be read: ${error.message}`, EXIT.usage);
  }
}

/** Only what this backend has signed is signed again: anyone may have written into the folder. Null: it has no key. */
const ownSignatures = (signingKey: PrivateKey | undefined): SignatureReader | null =>
  signingKey === undefined
    ? null
    : createSignatureReader([{ kid: signingKey.kid, key: createPublicKey(signingKey.key) }]);

/** The usable sounds of an earlier run. */
async function soundsIn(
  out: string,
  trust: PhraseTrust,
  texts: readonly PhraseText[],
): Promise<PhraseSound[]> {
  const known = await openPhraseSounds(out, trust);
  const sounds: PhraseSound[] = [];
  for (const text of texts) {
    const read = await known.read(text);
    if (read.ok && read.sound.file === fileOf(text)) sounds.push(read.sound);
  }
  return sounds;
}

async function speakIn(
  { config, secrets }: Opened,
  service: ServiceClient,
  language: string,
  texts: readonly PhraseText[],
  voice: string | null,
): Promise<readonly Uint8Array[]> {
  const session = await service.createSession({
    intent: 's2s',
    connection_type: 'ws',
    single_use: true,
    expires_in_seconds: EXPIRES_S,
    max_session_duration_seconds: LONGEST_STREAM_S,
    client_reference_id: REFERENCE,
  });
  const clock = createSystemClock();
  const { serviceCa } = secrets;
  const openStream = createWebSocketStreams({ clock, ...(serviceCa && { ca: serviceCa }) });
  const address = config.service.streamUrl.replaceAll('{random_hash}', randomBytes(18).toString('base64url'));
  try {
    return await speakTexts(
      { openStream, clock },
      {
        target: { address, token: session.token },
        language,
        voice,
        texts: texts.map(({ text }) => text),
        longestMs: LONGEST_PHRASE_S * 1000,
      },
    );
  } catch (error) {
    if (!(error instanceof NotSpoken)) throw error;
    throw new Failure(`the phrases in "${language}" were not spoken: ${error.message}`, EXIT.failed);
  } finally {
    // The stream is closed, and the token opens no other one: a failure costs nothing.
    await service.deleteSession(session.id).catch(() => false);
  }
}

const fileOf = ({ language, text }: PhraseText): string => `${language}/${hashOf(text).slice(0, 16)}.wav`;
const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const wav = (pcm: Uint8Array): Uint8Array =>
  Buffer.concat([makeHeader({ rateHz: OUTPUT_RATE_HZ, dataBytes: pcm.byteLength }), pcm]);

function writeSound(out: string, phrase: PhraseText, pcm: Uint8Array): PhraseSound {
  const bytes = wav(pcm);
  const file = fileOf(phrase);
  write(join(out, phrase.language), join(out, file), bytes);
  return { language: phrase.language, text: phrase.text, file, sha256: hashOf(bytes) };
}

/** Signed like the configuration, if the backend has a signing key. */
async function writeManifest(
  out: string,
  { config, secrets }: Opened,
  phrases: PhraseSound[],
): Promise<void> {
  const body = { format: 1, phrases } as const;
  const { signingKey } = secrets;
  const wall = createSystemClock().wall();
  const manifest =
    signingKey === undefined
      ? body
      : { jws: await createSigner(signingKey).sign('dragoman+phrases', config.mqtt.prefix, body, wall) };
  write(out, join(out, PHRASE_MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** A power cut leaves the old file or the new one. */
function write(folder: string, file: string, content: string | Uint8Array): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new Failure(`${file} cannot be written (${systemReason(error)}): give another --out`, EXIT.failed);
  }
}
