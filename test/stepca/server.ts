// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomUUID, type JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { buildStepCa } from './build.ts';

/** A real step-ca server on the loopback address, with a CA of its own. */
export interface StepCa {
  readonly url: string;
  /** PEM. */
  readonly root: string;
  readonly provisioner: string;
  /** URL of the directory of its ACME server, which asks for http-01 at {@link StepCa.httpPort}. */
  readonly acmeDirectory: string;
  readonly httpPort: number;
  /** The provisioner's private key. */
  readonly jwk: JsonWebKey;
  /** Resolves when it answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 60_000;
/** Longer than this its provisioner refuses. */
export const LONGEST = '24h0m0s';

/**
 * What a leaf holds is what the token says, as examples/step-ca.ts asks for; nothing makes it a CA.
 */
const TEMPLATE = `{${['subject', 'sans', 'keyUsage', 'extKeyUsage']
  .map((member) => `"${member}": {{ toJson .Token.leaf.${member} }}`)
  .join(', ')}}`;

/** Prepares a server in `directory`; it is started by {@link StepCa.start}. */
export async function prepareStepCa(directory: string): Promise<StepCa> {
  const program = await buildStepCa((line) => console.error(line));
  const file = (name: string): string => join(directory, name);
  makeAuthority(file);
  const port = await freePort();
  const httpPort = await freePort();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  const key = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' };
  const provisioner = 'countersign';
  const claims = { maxTLSCertDuration: LONGEST, defaultTLSCertDuration: '1h' };
  const options = { x509: { template: TEMPLATE } };
  writeFileSync(
    file('ca.json'),
    JSON.stringify({
      root: file('root.crt'),
      crt: file('intermediate.crt'),
      key: file('intermediate.key'),
      address: `127.0.0.1:${port}`,
      dnsNames: ['127.0.0.1'],
      logger: { format: 'json' },
      authority: {
        provisioners: [
          { type: 'JWK', name: provisioner, key, claims, options },
          { type: 'ACME', name: 'acme' },
        ],
      },
      // Without it a token would be good twice.
      db: { type: 'badgerv2', dataSource: file('db') },
    }),
  );
  const root = readFileSync(file('root.crt'), 'utf8');
  const url = `https://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  return {
    acmeDirectory: `${url}/acme/acme/directory`,
    httpPort,
    url,
    root,
    provisioner,
    jwk: { ...privateKey.export({ format: 'jwk' }), kid },
    start: async () => {
      const env = {
        ...process.env,
        STEPPATH: directory,
        ACME_HTTP_PORT: `${httpPort}`,
        CONTROLPLANE_OWNER_PID: `${process.pid}`,
      };
      const started = spawn(program, [file('ca.json')], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env,
      });
      child = started;
      const said: string[] = [];
      started.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      await until('step-ca answers', START_MS, () => {
        if (started.exitCode !== null) throw new Error(`it ended: ${said.slice(-5).join('')}`);
        return isHealthy(url, root);
      });
    },
    stop: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A root and an issuing CA below it, by OpenSSL. */
function makeAuthority(file: (name: string) => string): void {
  const make = (name: string, pathlen: number, more: readonly string[]): unknown =>
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-noenc',
        '-subj',
        `/CN=Step ${name}`,
        '-days',
        '2',
        '-out',
        file(`${name}.crt`),
        '-keyout',
        file(`${name}.key`),
        ...more,
        '-addext',
        `basicConstraints=critical,CA:TRUE,pathlen:${pathlen}`,
        '-addext',
        'keyUsage=critical,keyCertSign,cRLSign',
      ],
      { stdio: 'pipe' },
    );
  make('root', 1, []);
  make('intermediate', 0, ['-CA', file('root.crt'), '-CAkey', file('root.key')]);
}

function isHealthy(url: string, ca: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get(new URL('/health', url), { ca }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on('error', reject);
  });
}
