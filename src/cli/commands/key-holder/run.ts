// SPDX-License-Identifier: Apache-2.0
import { createLog, type RootLog } from '#app/log.ts';
import type { LogFormat, LogLevel } from '#app/log-settings.ts';
import { clock, delay } from '#app/process.ts';
import { messageOf, usageError } from '#base/errors.ts';
import type { Log } from '#base/ports.ts';
import { readHolderConfiguration, type HolderConfiguration } from '#ca/key-holder/configuration.ts';
import { parseYaml } from '#cli/yaml-document.ts';
import { openCrlNumbers } from './crl-numbers.ts';
import { probeHolder } from './probe.ts';
import { openKeys, type OpenKey, type TokenOpener } from './keys.ts';
import { checkCodeFile, readLimitsFile, readPrivateFile } from './private-file.ts';
import { createHolderServer, type HolderServer } from './server.ts';
import { createSocketSigner } from './signer.ts';
import { listenOn } from './socket.ts';
import { startTokenChild } from './token/child.ts';
import { keepTokenOpen, type Token } from './token/token.ts';

/** Flags of `countersign key-holder`. */
export interface KeyHolderOptions {
  /** The text of the file. */
  readonly configuration?: string;
  /** Path of a socket. */
  readonly probe?: string;
  readonly check: boolean;
  /** Path of the native addon. */
  readonly pkcs11Addon: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/**
 * Holds keys, and serves its sockets until SIGTERM or SIGINT. With `--probe`, tests a socket.
 *
 * @throws SignerError USAGE (`fail`) if the file, a key or a socket is wrong. With `--check`, also
 *   if a token cannot be used.
 */
export async function run(file: string | undefined, options: KeyHolderOptions): Promise<void> {
  if (options.probe === undefined) await serve(file, options);
  else await probeHolder(options.probe);
}

async function serve(file: string | undefined, options: KeyHolderOptions): Promise<void> {
  const root = await createLog(options.logFormat, options.logLevel);
  const log = root.child({ component: 'key-holder' });
  const configuration = await configurationOf(file, options.configuration);
  const { keys: opened, tokens } = await openKeys(
    configuration.keys,
    tokensWith(options.pkcs11Addon, log),
  );
  try {
    const keys = new Map(opened.map((each) => [each.name, each]));
    requireListSigners(configuration, keys);
    if (options.check) await check(configuration, opened, tokens, log);
    else await serveSockets(configuration, keys, root);
  } finally {
    for (const each of tokens) each.stop();
  }
}

/** Returns the function that opens tokens, which only the variant of the image can. */
function tokensWith(addon: string, log: Log): TokenOpener {
  return (place, keys) =>
    keepTokenOpen({
      place,
      keys,
      addon,
      start: startTokenChild,
      readPin: readPrivateFile,
      checkCode: checkCodeFile,
      delay,
      log,
    });
}

/** @throws SignerError USAGE (`fail`) if a token or a key in it cannot be used */
async function check(
  { sockets }: HolderConfiguration,
  keys: readonly OpenKey[],
  tokens: readonly Token[],
  log: Log,
): Promise<void> {
  await Promise.all(tokens.map(({ attempted }) => attempted));
  const faults = keys.flatMap(({ name, faultOf }) => {
    const fault = faultOf();
    return fault === undefined ? [] : [`key ${name}: ${fault}`];
  });
  if (faults.length > 0) throw usageError(faults.join('; '));
  log.info({ keys: keys.length, sockets: sockets.length }, 'checked');
}

async function serveSockets(
  configuration: HolderConfiguration,
  keys: ReadonlyMap<string, OpenKey>,
  root: RootLog,
): Promise<void> {
  const numbers = openCrlNumbers(configuration.crlNumbers, [...keys.keys()]);
  const servers: HolderServer[] = [];
  for (const { path, mode, uses } of configuration.sockets) {
    const ofSocket = root.child({ component: 'key-holder', socket: path });
    const signer = createSocketSigner({ uses, keys, numbers, clock, log: ofSocket });
    const served = createHolderServer(signer, ofSocket);
    await listenOn(served.server, path, mode);
    servers.push(served);
    ofSocket.info({ keys: uses.map(({ key }) => key) }, 'listening');
  }
  await stopSignal();
  await Promise.all(servers.map((each) => each.close()));
  root.child({ component: 'key-holder' }).info({}, 'stopped');
}

async function configurationOf(
  file: string | undefined,
  given: string | undefined,
): Promise<HolderConfiguration> {
  if ((file === undefined) === (given === undefined)) {
    throw usageError('name either the file or --configuration');
  }
  if (file !== undefined) return readFileOf(file);
  const name = '--configuration';
  return readHolderConfiguration(parseYaml(given ?? '', name), name);
}

async function readFileOf(file: string): Promise<HolderConfiguration> {
  const text = await readLimitsFile(file).catch((error: unknown) => {
    throw usageError(messageOf(error));
  });
  return readHolderConfiguration(parseYaml(text, file), file);
}

/** Throws if a socket should sign CRLs of a CA that may not. */
function requireListSigners(
  { sockets }: HolderConfiguration,
  keys: ReadonlyMap<string, OpenKey>,
): void {
  for (const { path, uses } of sockets) {
    const wrong = uses.find(({ key, crl }) => crl !== undefined && !keys.get(key)?.signsLists);
    if (wrong === undefined) continue;
    throw usageError(
      `socket ${path}: the CA of key ${wrong.key} may not sign CRLs (keyUsage lacks cRLSign); remove crl from this use`,
    );
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve();
      });
    }
  });
}
