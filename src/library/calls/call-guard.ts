// SPDX-License-Identifier: Apache-2.0
import { SIGNER_NAME, isGranted } from '../../api/signer/grant.ts';
import type { Secret } from '../../api/object/object.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { IssuerError } from '../errors.ts';
import type { Context, Issuer, SecretData } from '../issuer.ts';
import { createCallTimeout } from './call-timeout.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import { SECRETS } from '../../kube/resource/core-v1.ts';

/** What the calls of an author's functions need. */
export interface CallGuardInit<Config> {
  readonly component: Component;
  readonly secrets: (config: Config) => readonly string[];
  /** How long one call may take, in milliseconds. */
  readonly callMs: number;
}

/**
 * Calls an author's function with its {@link Context}, under a timeout.
 *
 * @throws Error when the time is up, whatever the function does; else what the function throws
 */
export type GuardedCall<Config> = <T>(
  issuer: Issuer<Config>,
  work: (ctx: Context) => Promise<T>,
) => Promise<T>;

/** Makes the guard through which every call of `check` and `sign` goes. */
export function createCallGuard<Config>(init: CallGuardInit<Config>): GuardedCall<Config> {
  const { component, callMs } = init;

  async function secretOf(issuer: Issuer<Config>, name: string): Promise<SecretData> {
    if (!init.secrets(issuer.config).includes(name)) {
      throw new IssuerError(`secrets() does not name Secret ${name}; add it there`);
    }
    const namespace = issuer.namespace ?? component.secretNamespace;
    const secret = await component.client
      .request<Secret>({ method: 'GET', path: SECRETS.object({ namespace, name }) })
      .catch(ignoreNotFound);
    if (secret === undefined) throw new IssuerError(`Secret ${namespace}/${name} does not exist`);
    if (!isGranted(secret, issuer.signerName)) {
      throw new IssuerError(
        `Secret ${namespace}/${name} lacks the annotation ${SIGNER_NAME}: ${issuer.signerName}; the owner of the Secret grants it by adding that`,
      );
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
