// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { issuedLeafOf, isAssertionResult } from '#conformance/issued-leaf.ts';
import type { ScenarioResult } from '#conformance/observed-request.ts';
import type { ClientAuthentication } from '#conformance/csr/snapshot.ts';
import { messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { Connection } from '#kube/client/connection.ts';
import type { Run } from '../run.ts';
import { isNotServed, notServedText } from '../steps.ts';

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** A user in the form of the API server (authentication.k8s.io/v1 UserInfo). */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the user of this client as the API server identifies it. @throws KubeError */
export async function whoami(client: Client): Promise<UserInfo> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = await client.request<{ readonly status?: { readonly userInfo?: UserInfo } }>({
    method: 'POST',
    path: REVIEWS,
    body,
  });
  return { username: '', ...review.status?.userInfo };
}

/** Presents the leaf to the API server as a client certificate, and requests the user. */
export async function authenticateWith(
  run: Run,
  scenario: ScenarioResult,
  key: KeyObject | undefined,
): Promise<ClientAuthentication> {
  const issued = issuedLeafOf(scenario);
  if (isAssertionResult(issued) || key === undefined)
    return { skipped: 'there is no leaf to log in with' };
  const { tls } = await run.connection.credentials();
  const { cert: _cert, key: _key, ...server } = tls;
  const own = {
    ...server,
    cert: issued.version.pem,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const connection: Connection = {
    server: run.connection.server,
    credentials: () => Promise.resolve({ tls: own }),
    invalidate: () => undefined,
  };
  const client = run.clientWith(connection);
  try {
    const { username } = await whoami(client);
    return { username };
  } catch (error) {
    // Without an answer, the TLS of one side may have rejected the leaf.
    if (isNotServed(error) && error.status !== 0) return { skipped: notServedText(error) };
    return { fault: `the API server did not accept it: ${messageOf(error)}` };
  } finally {
    await client.close();
  }
}
