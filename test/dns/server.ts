// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import { join } from 'node:path';
import { Hopeless, until } from '../cluster/until.ts';
import { unpackDebian } from './debian.ts';

/** A key that updates are signed by. */
export interface UpdateKey {
  readonly name: string;
  readonly algorithm: 'HMAC-SHA256' | 'HMAC-SHA384' | 'HMAC-SHA512';
  /** Base64. */
  readonly secret: string;
}

export interface DnsServerInit {
  /** Where it has its files. */
  readonly directory: string;
  /** Of the loopback network. */
  readonly address: string;
  readonly port: number;
  /** Zone → its records as a zone file has them, without SOA. */
  readonly zones: Readonly<Record<string, readonly string[]>>;
  /**
   * The zones that may be updated, and the key that signs updates; none where anybody on this
   * machine may.
   */
  readonly updates?: { readonly zones: readonly string[]; readonly key?: UpdateKey | undefined };
}

/** A real DNS server. */
export interface DnsServer {
  /** host:port. */
  readonly at: string;
  /** The values of a name, sorted. */
  readonly txt: (name: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

const START_MS = 20_000;

/** ISC BIND. Its address must be an interface's: 127.0.0.1. */
export async function startBind(init: DnsServerInit): Promise<DnsServer> {
  const { root, env } = unpackDebian(['bind9']);
  const { directory, address, port, zones, updates } = init;
  const files = writeZones(init);
  const key = updates?.key;
  const grant = (zone: string): string => {
    if (updates?.zones.includes(zone) !== true) return '';
    return `allow-update { ${key === undefined ? '127.0.0.0/8' : `key "${key.name}"`}; };`;
  };
  const config = [
    `options { directory "${directory}"; listen-on port ${port} { ${address}; }; listen-on-v6 { none; };`,
    '  pid-file none; session-keyfile none; recursion no; empty-zones-enable no; check-integrity no; dnssec-validation no; };',
    'controls { };',
    key === undefined
      ? ''
      : `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };`,
    ...Object.keys(zones).map(
      (zone) => `zone "${zone}" { type primary; file "${files[zone]}"; ${grant(zone)} };`,
    ),
  ];
  writeFileSync(join(directory, 'named.conf'), config.join('\n'));
  const command = [
    join(root, 'usr/sbin/named'),
    '-4',
    '-g',
    '-n',
    '1',
    '-c',
    join(directory, 'named.conf'),
  ];
  return serve(init, command, env);
}

/** Knot DNS. */
export async function startKnot(init: DnsServerInit): Promise<DnsServer> {
  const { root, env } = unpackDebian(['knot']);
  const { directory, address, port, zones, updates } = init;
  const files = writeZones(init);
  const key = updates?.key;
  const who = key === undefined ? '    address: 127.0.0.0/8' : `    key: ${key.name}`;
  const config = [
    'server:',
    `    rundir: ${directory}`,
    `    listen: ${address}@${port}`,
    'log:',
    '  - target: stderr',
    '    any: info',
    'database:',
    `    storage: ${directory}`,
    ...(key === undefined
      ? []
      : [
          'key:',
          `  - id: ${key.name}`,
          `    algorithm: ${key.algorithm.toLowerCase()}`,
          `    secret: ${key.secret}`,
        ]),
    'acl:',
    '  - id: updates',
    who,
    '    action: update',
    'zone:',
    ...Object.keys(zones).flatMap((zone) => [
      `  - domain: ${zone}`,
      `    file: ${files[zone]}`,
      ...(updates?.zones.includes(zone) === true ? ['    acl: updates'] : []),
    ]),
  ];
  writeFileSync(join(directory, 'knot.conf'), `${config.join('\n')}\n`);
  return serve(init, [join(root, 'usr/sbin/knotd'), '-c', join(directory, 'knot.conf')], env);
}

/** Zone → its file. */
function writeZones({ directory, zones }: DnsServerInit): Readonly<Record<string, string>> {
  mkdirSync(directory, { recursive: true });
  return Object.fromEntries(
    Object.entries(zones).map(([zone, records]) => {
      const file = join(directory, `${zone}.zone`);
      const soa = `@ 300 IN SOA ns1.${zone}. hostmaster.${zone}. 1 3600 600 86400 5`;
      writeFileSync(file, `$ORIGIN ${zone}.\n$TTL 60\n${[soa, ...records].join('\n')}\n`);
      return [zone, file];
    }),
  );
}

async function serve(
  { directory, address, port, zones }: DnsServerInit,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<DnsServer> {
  const log = createWriteStream(join(directory, 'server.log'));
  // It ends with the process that started it, however that one went.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said.push(chunk.toString());
      log.write(chunk);
    });
  }
  const resolver = new Resolver({ timeout: 1000, tries: 2 });
  resolver.setServers([`${address}:${port}`]);
  try {
    await until(`${command[0] ?? ''} answers`, START_MS, async () => {
      if (child.exitCode !== null) throw new Hopeless('it ended');
      for (const zone of Object.keys(zones)) await resolver.resolveSoa(zone);
      return true;
    });
  } catch (error) {
    await stop(child);
    throw new Error(said.join('').slice(-2000), { cause: error });
  }
  return {
    at: `${address}:${port}`,
    txt: async (name) => {
      const found = await resolver.resolveTxt(name).catch(emptyWhereNone);
      return found.map((parts) => parts.join('')).sort();
    },
    stop: () => stop(child),
  };
}

function emptyWhereNone(error: NodeJS.ErrnoException): string[][] {
  if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
  throw error;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
