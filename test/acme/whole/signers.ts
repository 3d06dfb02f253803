// SPDX-License-Identifier: Apache-2.0
import { acmeClusterSigner } from '../../support/acme/signer.ts';
import { KEYS_NAMESPACE } from '../../support/cluster/installation.ts';
import type { DnsServer, UpdateKey } from '../../dns/server.ts';
import type { StepCa } from '../../stepca/server.ts';
import type { Pebble } from '../pebble.ts';

/** Whom the signers have to do with. */
export interface Servers {
  readonly bind: DnsServer;
  readonly pebble: Pebble;
  /** One that serves its customers only. */
  readonly bound: Pebble;
  readonly step: StepCa;
}

export const USAGES = ['digital signature', 'server auth'];

/** Signs updates of the DNS server. */
export const KEY: UpdateKey = {
  name: 'acme-key',
  algorithm: 'HMAC-SHA256',
  secret: Buffer.alloc(32, 7).toString('base64'),
};

/**
 * The signers, each with an account key whose Secret has its name; `odd` asks for what its CA does
 * not have.
 */
export const ACCOUNTS = ['public', 'bound', 'internal', 'short', 'odd'] as const;

/** What a CA that serves its customers only gives one of them. */
const CUSTOMER = { keyID: 'kid-1', key: Buffer.alloc(32, 9).toString('base64url') };

/** Settings of a Pebble that serves that customer only. */
export const EXTERNAL_KEY = {
  externalAccountRequired: true,
  externalAccountKeys: { [CUSTOMER.keyID]: CUSTOMER.key },
};

/** What is applied: every AcmeClusterSigner, and the key of the external account. */
export function signersOf({ bind, pebble, bound, step }: Servers): readonly object[] {
  const solvers = [{ name: 'http', http01: {} }, ...dnsSolvers(bind.at)];
  const allow = { dnsNames: "self.endsWith('.example')", ipAddresses: 'true', usages: USAGES };
  const spec = {
    profile: { usages: USAGES },
    requests: { rules: [{ name: 'examples', when: 'true', allow }] },
    certificateRequests: { rules: [{ name: 'examples', when: 'true', allow }] },
  };
  const signer = (
    name: (typeof ACCOUNTS)[number],
    server: { readonly directory: string; readonly ca: string },
    acme: object = {},
  ): object => acmeClusterSigner({ name, server, account: name, solvers, acme, spec });
  const secret = { name: 'bound-external' };
  const metadata = { ...secret, namespace: KEYS_NAMESPACE };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { key: CUSTOMER.key } },
    signer('public', pebble),
    signer('bound', bound, { externalAccountBinding: { keyID: CUSTOMER.keyID, secret } }),
    signer('internal', { directory: step.acmeDirectory, ca: step.root }),
    signer('short', pebble, { profile: 'shortlived' }),
    signer('odd', pebble, { profile: 'forever' }),
  ];
}

/** BIND does not listen on port 53 here. */
function dnsSolvers(nameserver: string): readonly object[] {
  const { name: keyName, algorithm } = KEY;
  const tsig = { keyName, algorithm, secret: { name: 'tsig' } };
  const selfCheck = { nameservers: [nameserver] };
  return [
    {
      name: 'update',
      selfCheck,
      rfc2136: { server: nameserver, tsig },
      selector: { dnsZones: ['wild.shop.example'] },
    },
    {
      name: 'stays',
      selfCheck,
      persist: {},
      selector: { dnsNames: ['*.stays.shop.example'] },
    },
  ];
}
