/** The generated parts of docs/mqtt.md. */
import type { z } from 'zod';
import { reportedSchema } from '../../src/protocol/config-reported.ts';
import { certificateRequestSchema } from '../../src/protocol/mqtt/certificate.ts';
import { commandRequestSchema, commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import type {
  CommandDefinition,
  CommandDefinitions,
} from '../../src/protocol/mqtt/commands/command-definition.ts';
import { statusAnswerSchema } from '../../src/protocol/mqtt/commands/device-commands.ts';
import { lanesAnswerSchema } from '../../src/protocol/mqtt/commands/lane-commands.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import { diagnosisSchema } from '../../src/protocol/mqtt/diagnose.ts';
import { EVENT_KINDS, EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { healthSchema } from '../../src/protocol/mqtt/health.ts';
import {
  endsRecordedSchema,
  legacyTokenGrantSchema,
  tokenDenialSchema,
  tokenGrantSchema,
  tokenProbeAnswerSchema,
  tokenRequestSchema,
} from '../../src/protocol/mqtt/token.ts';
import { deviceTopics } from '../../src/protocol/mqtt/topics.ts';
import { signedEnvelopeSchema } from '../../src/protocol/signed.ts';
import { EVENT_EXAMPLES, MESSAGE_EXAMPLES } from './examples.ts';
import { describes, fieldsOf, fieldTable } from './schema-table.ts';
import { table } from './table.ts';

const TOPICS = deviceTopics({ prefix: '{prefix}', tenant: '{tenant}', device: '{device}' });
const EXAMPLE_TOPICS = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' });

/** Every topic of a device: sender, delivery, and the section that describes it. */
const ROWS: readonly (readonly [topic: string, from: string, how: string, what: string])[] = [
  [TOPICS.status, 'device', 'QoS 1, retained, will', '[its status](#status)'],
  [TOPICS.state, 'device', 'QoS 1, retained, at most once a second', '[details of each lane](#state)'],
  [TOPICS.health, 'device', 'QoS 0, every 60 s', '[figures](#health)'],
  [TOPICS.event('{kind}'), 'device', 'QoS 1', '[an event](#events)'],
  [TOPICS.command('{name}'), 'operator', 'QoS 1, never retained', '[a command](#commands)'],
  [
    TOPICS.fleetCommands.replace('+', '{name}'),
    'operator',
    'QoS 1, never retained',
    '[a command to every device](#to-all-devices)',
  ],
  [
    TOPICS.groupCommands('{group}').replace('+', '{name}'),
    'operator',
    'QoS 1, never retained',
    '[a command to the devices of a group](#to-all-devices)',
  ],
  [TOPICS.commandResponse('{name}'), 'device', 'QoS 1', '[its answer](#answers)'],
  [TOPICS.log, 'device', 'QoS 0', '[its log](#log_stream), while `log_stream` runs'],
  [
    TOPICS.configDesired,
    'operator',
    'QoS 1, retained',
    '[the desired configuration](#desired-configuration)',
  ],
  [
    TOPICS.groupDesired('{group}'),
    'operator',
    'QoS 1, retained',
    '[the same for a group](#desired-configuration)',
  ],
  [
    TOPICS.configReported,
    'device',
    'QoS 1, retained',
    '[the configuration in force](#reported-configuration)',
  ],
  [TOPICS.tokenRequest, 'device', 'QoS 1', '[the device needs a token](#token-requests)'],
  [
    TOPICS.tokenResponse,
    'backend',
    'QoS 0, expiry 30 s, never retained',
    '[the answer](#answers-to-token-requests)',
  ],
  [
    TOPICS.certificateRequest,
    'device',
    'QoS 1, retained',
    '[the device needs a new client certificate](#client-certificates)',
  ],
];

/** The index at the top of the page: short topic names and their sections. */
const TOPIC_INDEX: readonly (readonly [name: string, anchor: string])[] = [
  ...(['status', 'state', 'health'] as const).map((name) => [name, name] as const),
  ['event/{kind}', 'events'],
  ['cmd/{name}', 'commands'],
  ['cmd/{name}/res', 'answers'],
  ['log', 'log_stream'],
  ['config/desired', 'desired-configuration'],
  ['config/reported', 'reported-configuration'],
  ['token/req', 'token-requests'],
  ['token/res', 'answers-to-token-requests'],
  ['cert/req', 'client-certificates'],
];

export const MQTT_PARTS: Readonly<Record<string, () => string>> = {
  index: () =>
    table(
      ['index', 'sections'],
      [
        ['topics', linksTo(TOPIC_INDEX)],
        // The section of the topic has the anchor `status`.
        [
          'commands',
          linksTo(Object.keys(COMMANDS).map((name) => [name, name === 'status' ? 'status-1' : name])),
        ],
        ['answers', '[fields](#answers) · [error codes](#errors) · [signed commands](#signed-commands)'],
        ['events', linksTo(EVENT_KINDS.map((kind) => [kind, kind]))],
      ],
    ),
  topics: () => ['| topic | from | how | what |', '|---|---|---|---|', ...ROWS.map(topicRow)].join('\n'),
  status: () => message(statusSchema, MESSAGE_EXAMPLES.status),
  state: () => message(stateSchema, MESSAGE_EXAMPLES.state),
  health: () => message(healthSchema, MESSAGE_EXAMPLES.health),
  reported: () => message(reportedSchema, MESSAGE_EXAMPLES.reported),
  events: () => EVENT_KINDS.map(eventSection).join('\n\n'),
  'command-request': () => message(commandRequestSchema, MESSAGE_EXAMPLES.command),
  'command-answer': () =>
    [
      fieldTable(fieldsOf(commandResponseSchema)),
      json(MESSAGE_EXAMPLES.accepted, MESSAGE_EXAMPLES.ok, MESSAGE_EXAMPLES.error),
    ].join('\n\n'),
  commands: () => commandSections(COMMANDS),
  'lanes-answer': () => fieldTable(fieldsOf(lanesAnswerSchema)),
  'status-answer': () => message(statusAnswerSchema, MESSAGE_EXAMPLES.statusAnswer),
  diagnosis: () => message(diagnosisSchema, MESSAGE_EXAMPLES.diagnosis),
  'token-request': () => message(tokenRequestSchema, MESSAGE_EXAMPLES.request),
  'token-grant': () => message(tokenGrantSchema, MESSAGE_EXAMPLES.grant),
  'token-legacy': () => message(legacyTokenGrantSchema, MESSAGE_EXAMPLES.legacy),
  'token-denial': () => message(tokenDenialSchema, MESSAGE_EXAMPLES.denial),
  'token-probed': () => message(tokenProbeAnswerSchema, MESSAGE_EXAMPLES.probed),
  'token-recorded': () => message(endsRecordedSchema, MESSAGE_EXAMPLES.recorded),
  'certificate-request': () => message(certificateRequestSchema, MESSAGE_EXAMPLES.certificateRequest),
  'signed-envelope': () => fieldTable(fieldsOf(signedEnvelopeSchema)),
};

const WIDEST_JSON = 100;
/** Answers that have their own section. */
const DESCRIBED_APART: readonly z.ZodType[] = [lanesAnswerSchema, statusAnswerSchema, diagnosisSchema];
/** Fields of every event; the page describes them once. */
const IN_EACH = ['ts', 'lane', 'repeated'];

function linksTo(entries: readonly (readonly [name: string, anchor: string])[]): string {
  return entries.map(([name, anchor]) => `[\`${name}\`](#${anchor})`).join(' · ');
}

function topicRow([topic, from, how, what]: (typeof ROWS)[number]): string {
  return `| \`${topic}\` | ${from} | ${how} | ${what} |`;
}

function message(schema: z.ZodType, example: object): string {
  return [fieldTable(fieldsOf(schema)), json(example)].join('\n\n');
}

function eventSection(kind: (typeof EVENT_KINDS)[number]): string {
  const schema = EVENT_SCHEMAS[kind];
  const fields = fieldTable(fieldsOf(schema, IN_EACH));
  const parts = [`### ${kind}`, describes(schema), fields, json(EVENT_EXAMPLES[kind])];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The fields of `data` in the answer, unless they have their own section. */
function dataOf({ data: schema }: CommandDefinition): string {
  if (DESCRIBED_APART.includes(schema)) return '';
  const fields = fieldTable(fieldsOf(schema));
  return fields === '' ? '' : `Fields of \`data\` in the answer:\n\n${fields}`;
}

/** The reference of commands: a section for each. */
export function commandSections(definitions: CommandDefinitions): string {
  return Object.entries(definitions)
    .map(([name, definition]) => commandSection(name, definition))
    .join('\n\n');
}

function commandSection(name: string, definition: CommandDefinition): string {
  const { args: schema } = definition;
  const fields = fieldsOf(schema).map((field) => ({ ...field, name: `args.${field.name}` }));
  const payload = JSON.stringify({ id: 'a1', args: definition.example });
  const example = [
    '```sh',
    `mosquitto_pub -q 1 -t ${EXAMPLE_TOPICS.command(name)} \\`,
    `  -m '${payload}'`,
    '```',
  ];
  const parts = [
    `### ${name}`,
    describes(schema),
    fieldTable(fields),
    example.join('\n'),
    dataOf(definition),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function json(...objects: readonly object[]): string {
  return ['```json', ...objects.map((object) => pretty(object, '')), '```'].join('\n');
}

/** Formats JSON so that every value that fits stays on one line. */
function pretty(value: unknown, indent: string): string {
  const line = JSON.stringify(value).replaceAll(/(":|,)(?=["\d[{tfn-])/g, '$1 ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDEST_JSON) return line;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, part]) =>
    isList ? `${deeper}${pretty(part, deeper)}` : `${deeper}"${key}": ${pretty(part, deeper)}`,
  );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}
