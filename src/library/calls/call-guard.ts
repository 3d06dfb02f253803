// SPDX-License-Identifier: Apache-2.0
import { isGranted } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { IssuerError } from '../errors.ts';
import type { Context, Issuer, SecretData } from '../issuer.ts';
import { createCallTimeout } from './call-timeout.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import * as messages from '../messages.ts';

/** Parts of the calls of an author's functions. */
export interface CallGuardInit<Config> {
  readonly component: Component;
  readonly secrets: (config: Config) => readonly string[];
  /** Limit on one call, in milliseconds. */
  readonly callMs: number;
}

/**
 * Calls an author's function with its {@link Context}, under a timeout.
 *
 * @throws Error at the end of the time, whatever the function does. Otherwise the function's error
 */
export type GuardedCall<Config> = <T>(
  issuer: Issuer<Config>,
  work: (ctx: Context) => Promise<T>,
) => Promise<T>;

/** Creates the guard for every call of `check` and `sign`. */
export function createCallGuard<Config>(init: CallGuardInit<Config>): GuardedCall<Config> {
  const { component, callMs } = init;

  async function secretOf(issuer: Issuer<Config>, name: string): Promise<SecretData> {
    if (!init.secrets(issuer.config).includes(name)) {
      throw new IssuerError(messages.unnamedSecret(name));
    }
    const namespace = issuer.namespace ?? component.secretNamespace;
    const secret = await component.client
      .request<Secret>({ method: 'GET', path: SECRETS.object({ namespace, name }) })
      .catch(ignoreNotFound);
    if (secret === undefined) throw new IssuerError(messages.secretMissing(namespace, name));
    if (!isGranted(secret, issuer.signerName)) {
      throw new IssuerError(messages.secretNotGranted(namespace, name, issuer.signerName));
    }
    return Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [
        key,
        new Uint8Array(Buffer.from(value, 'base64')),
      ]),
    );
  }

  const timeLimit = createCallTimeout(component.delay, callMs);
  return (issuer, work) =>
    timeLimit((signal) =>
      work({
        signal,
        log: component.log,
        now: () => serverTime(component),
        secret: (name) => secretOf(issuer, name),
      }),
    );
}
