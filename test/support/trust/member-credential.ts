// SPDX-License-Identifier: Apache-2.0
/** The credential of a member of a fleet, for a hub that exists for the test. */
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { openHub } from '../ca/hub.ts';
import { NOW } from '../ca/issuing.ts';

export const HUB = await openHub();
/** PEM. */
export const ROOT = HUB.material.certificate;
export const HOUR = 3_600;
export const seconds = Math.floor(NOW / 1000);

/** Returns an unsigned token with these claims. Members do not verify signatures. */
export function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.c2ln`;
}

export const CLAIMS = {
  sub: 'system:serviceaccount:countersign-fleet:prod',
  iat: seconds - HOUR,
  exp: seconds + 23 * HOUR,
};

/** Returns the Secret with the credential of a member, or another with these data. */
export function secretOf(
  data: Readonly<Record<string, string>>,
  metadata: { readonly name?: string; readonly annotations?: Record<string, string> } = {},
): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'countersign-keys',
      name: 'workload-ca-hub',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-11-21T06:00:00Z',
      annotations: { [SIGNER_NAME]: 'example.com/workload' },
      ...metadata,
    },
    data: Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    ),
  };
}

export const GOOD = { server: 'https://hub.example.com:6443', 'ca.crt': ROOT, token: jwt(CLAIMS) };
