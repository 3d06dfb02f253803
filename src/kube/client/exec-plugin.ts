// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the exec plugin of a kubeconfig as client-go does (plugin/pkg/client/auth/exec). client-node
 * 2.0.1 omits KUBERNETES_EXEC_INFO, ignores `interactiveMode` and the answer's apiVersion, and
 * hides stderr, where a plugin writes how its user logs in.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import type { Clock } from '#base/ports.ts';
import { isRecord, membersOf } from '#base/record.ts';
import type { Members } from './kubeconfig-files.ts';
import { interactiveMode } from './kubeconfig-rules.ts';

/** A token, or a certificate and its key as PEM, or all of them. */
export interface PluginCredentials {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export type ExecPlugin = () => Promise<PluginCredentials>;

/** Variables of a process. */
export type PluginEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns what runs the plugin, or answers with its last credentials until they expire.
 *
 * @param exec - `users[].user.exec`, which has passed `userFault`
 * @param environment - variables that the plugin inherits
 */
export function createExecPlugin(
  exec: Members,
  clock: Clock,
  environment: PluginEnvironment = {},
): ExecPlugin {
  let last: { readonly credentials: PluginCredentials; readonly expiry: number } | undefined;
  return async () => {
    if (last !== undefined && clock() <= last.expiry) return last.credentials;
    const status = statusOf(JSON.parse(await run(exec, environment)), String(exec['apiVersion']));
    const { expirationTimestamp: until } = status;
    const expiry = typeof until === 'string' ? Date.parse(until) : Infinity;
    last = { credentials: credentialsOf(status), expiry };
    return last.credentials;
  };
}

/** @throws Error if the plugin cannot run or fails. Its stderr is that of this process. */
async function run(exec: Members, environment: PluginEnvironment): Promise<string> {
  const { apiVersion, args, command, env } = exec;
  const interactive = isInteractive(exec);
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive } };
  const own = listOf(env).map(membersOf);
  const child = spawn(String(command), listOf(args).map(String), {
    env: {
      ...environment,
      ...Object.fromEntries(own.map(({ name, value = '' }) => [String(name), String(value)])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close').catch((error: unknown) => {
    const { code } = membersOf(error);
    throw new Error(
      `its exec plugin ${String(command)} cannot be started (${String(code)}): install it, or correct the command of exec`,
    );
  });
  const [stdout] = await Promise.all([text(child.stdout), closed]);
  const { exitCode } = child;
  if (exitCode === 0) return stdout;
  throw new Error(
    `its exec plugin ${String(command)} failed with exit code ${String(exitCode)}: its messages on stderr say why`,
  );
}

/** @throws Error if the plugin needs a terminal, and there is none */
function isInteractive(exec: Members): boolean {
  const mode = interactiveMode(exec);
  const isTerminal = isatty(0);
  if (mode === 'Always' && !isTerminal) {
    throw new Error(
      'its exec plugin needs a terminal (interactiveMode: Always), and standard input is not a terminal: run the command on a terminal, or use another plugin',
    );
  }
  return mode !== 'Never' && isTerminal;
}

/** @throws Error unless the answer is an ExecCredential of this apiVersion, without its text */
function statusOf(answer: unknown, apiVersion: string): Members {
  const { kind, apiVersion: answered, status } = membersOf(answer);
  if (kind !== 'ExecCredential') {
    throw new Error('the output of its exec plugin has no kind: ExecCredential');
  }
  if (answered !== apiVersion) {
    const other = /^client\.authentication\.k8s\.io\/v\w{1,10}$/.test(String(answered))
      ? String(answered)
      : 'another apiVersion';
    throw new Error(
      `its exec plugin answered in ${other}, and its user sets exec.apiVersion ${apiVersion}: write the version that the plugin supports`,
    );
  }
  if (!isRecord(status)) throw new Error('the output of its exec plugin has no status');
  return status;
}

/** @throws Error if there are none, or only a certificate or only its key */
function credentialsOf(status: Members): PluginCredentials {
  const member = (name: string): string | undefined => {
    const value = status[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, cert, key] = [
    member('token'),
    member('clientCertificateData'),
    member('clientKeyData'),
  ];
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error('its exec plugin returned only a certificate or only its key');
  }
  if (token === undefined && cert === undefined) {
    throw new Error('its exec plugin returned neither a token nor a certificate with its key');
  }
  return { token, cert, key };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
