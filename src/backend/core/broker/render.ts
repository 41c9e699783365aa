/** The files that mosquitto reads, of a set-up. */
import type { Access } from './access.ts';
import { type Account, accountsOf, type PasswordHash, type Setup } from './setup.ts';

/** Content by file name; none of them holds a password, all are for the broker alone. */
export type Files = Readonly<Record<string, string>>;

/** For each client. Mosquitto's own 1,000 is less than a fleet asks for at once when its power comes back. */
const QUEUED_MESSAGES = 20_000;
const QUEUED_BYTES = 67_108_864;
/** The largest payload that an agent reads, and a topic. Clients are told, and one that sends more is disconnected. */
const LARGEST_PACKET_BYTES = 266_240;

const REVOKED = 'revoked.crl';

export function brokerFiles(setup: Setup): Files {
  const accounts = accountsOf(setup);
  const conf = {
    'mosquitto.conf': mosquittoConf(setup),
    ...(setup.revoked !== null && { [REVOKED]: setup.revoked.list }),
  };
  if (setup.form === 'dynsec') return { ...conf, 'dynamic-security.json': dynamicSecurity(accounts) };
  const devices = accounts.filter(({ kind }) => kind === 'device');
  const people = accounts.filter(({ kind }) => kind !== 'device');
  return {
    ...conf,
    ...{ 'devices.acl': accessList(devices), 'devices.passwords': passwordFile(devices) },
    ...{ 'people.acl': accessList(people), 'people.passwords': passwordFile(people) },
  };
}

function mosquittoConf(setup: Setup): string {
  const at = (file: string): string => `${setup.installedAt}/${file}`;
  const bind = setup.listen === null ? '' : ` ${setup.listen}`;
  const tls = [`certfile ${at('server.crt')}`, `keyfile ${at('server.key')}`, 'tls_version tlsv1.2'];
  const byCertificate = setup.deviceLogin === 'certificate';
  // The broker puts the name of the login or certificate in place of the identifier that a client gives. The plugin
  // binds both by itself where there is a password, and refuses a wrong identifier instead.
  const bound = byCertificate || setup.form === 'acl' ? ['use_username_as_clientid true'] : [];
  const guarded = (who: string): string[] =>
    setup.form === 'acl' ? [`acl_file ${at(`${who}.acl`)}`, `password_file ${at(`${who}.passwords`)}`] : [];
  return [
    '# Written by "dragoman-backend"; "dragoman-backend devices add" writes it again. Put what is yours into a file of its own.',
    // Each listener has users and rules of its own, so that no device can log in where people do.
    `per_listener_settings ${setup.form === 'acl'}`,
    ...(setup.form === 'dynsec'
      ? [`plugin ${setup.pluginFile}`, `plugin_opt_config_file ${at('dynamic-security.json')}`]
      : []),
    ...(setup.form === 'dynsec' ? ['allow_anonymous false'] : []),
    '',
    '# Retained messages (status, configuration) outlive a restart.',
    ...['persistence true', `persistence_location ${at('store')}/`, 'persistent_client_expiration 1d'],
    '',
    '# A fleet whose power comes back asks for all its tokens at once; none of the requests may be dropped.',
    ...[`max_queued_messages ${QUEUED_MESSAGES}`, `max_queued_bytes ${QUEUED_BYTES}`],
    ...[`max_packet_size ${LARGEST_PACKET_BYTES}`, ''],
    `# Devices: ${byCertificate ? 'the name in the certificate' : 'user name and password'}.`,
    ...[`listener ${setup.devicePort}${bind}`, ...tls],
    ...(byCertificate
      ? [`cafile ${at('ca.crt')}`, 'require_certificate true', 'use_identity_as_username true']
      : []),
    ...(byCertificate && setup.revoked !== null ? [`crlfile ${at(REVOKED)}`] : []),
    ...[...bound, ...(setup.form === 'acl' ? ['allow_anonymous false'] : []), ...guarded('devices'), ''],
    '# The backend and people: user name and password.',
    ...[`listener ${setup.peoplePort}${bind}`, ...tls],
    ...[...(setup.form === 'acl' ? ['allow_anonymous false'] : []), ...guarded('people'), ''],
  ].join('\n');
}

/** Without patterns: `%c` and `%u` are `tenant.device`, and topics have the two as levels of their own. */
function accessList(accounts: readonly Account[]): string {
  const sections = accounts.map(({ username, access }) =>
    [
      `user ${username}`,
      ...access.publish.map((topic) => `topic write ${topic}`),
      ...access.receive.map((topic) => `topic read ${topic}`),
      '',
    ].join('\n'),
  );
  return ['# Whatever is not named here is refused.', '', ...sections].join('\n');
}

function passwordFile(accounts: readonly Account[]): string {
  return accounts
    .flatMap(({ username, password }) =>
      password === null ? [] : [`${username}:$7$${password.iterations}$${password.salt}$${password.hash}\n`],
    )
    .join('');
}

function dynamicSecurity(accounts: readonly Account[]): string {
  const document = {
    defaultACLAccess: {
      ...{ publishClientSend: false, publishClientReceive: false, subscribe: false, unsubscribe: true },
    },
    clients: accounts.map(({ username, clientId, password }) => ({
      username,
      ...(clientId !== null && { clientid: clientId }),
      ...(password !== null && hashed(password)),
      roles: [{ rolename: username, priority: -1 }],
    })),
    groups: [],
    roles: accounts.map(({ username, access }) => ({ rolename: username, acls: rules(access) })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function hashed({ hash, salt, iterations }: PasswordHash) {
  return { password: hash, salt, iterations };
}

function rules({ publish, receive, subscribe }: Access) {
  const rule = (acltype: string) => (topic: string) => ({ acltype, topic, priority: 0, allow: true });
  return [
    ...publish.map(rule('publishClientSend')),
    ...receive.map(rule('publishClientReceive')),
    ...[...receive, ...subscribe].map(rule('subscribePattern')),
  ];
}
