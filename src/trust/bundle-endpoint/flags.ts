// SPDX-License-Identifier: Apache-2.0
import { checkSignerName } from '#api/signer/signer-name.ts';
import { usageError } from '#base/errors.ts';
import { parseDuration } from '#api/object/duration.ts';
import type { Flag } from '#component/flag.ts';
import { checkTrustDomain } from '../spiffe/trust-domain.ts';

/** Profiles by which a bundle endpoint authenticates (SPIFFE Federation §5.2). */
export const ENDPOINT_PROFILES = ['https_web', 'https_spiffe'] as const;

/** One of the profiles. */
export type EndpointProfile = (typeof ENDPOINT_PROFILES)[number];

/** Flags of `bundle-endpoint`. */
export interface EndpointFlags {
  /** Trust domain → signer names. */
  readonly trustDomain: ReadonlyMap<string, readonly string[]>;
  readonly profile: readonly EndpointProfile[];
  readonly listenWeb: string;
  readonly webCertificate: string;
  readonly listenSpiffe: string;
  readonly svid: string;
  /** Seconds. The default is a fifth of `propagation`. */
  readonly refreshHint?: number;
}

/** The ports of the Deployment's containers. */
export const WEB_PORT = 8446;
export const SPIFFE_PORT = 8447;

/** Directories where the Deployment mounts the endpoint's certificates. */
export const WEB_DIRECTORY = '/run/countersign/web';
export const SVID_DIRECTORY = '/run/countersign/svid';

/** {@link EndpointFlags} */
export const ENDPOINT_FLAGS: readonly Flag[] = [
  {
    flag: '--trust-domain <name=signer,...>',
    help: 'trust domain whose bundle is served at /<name>/bundle.json, and the signers of its X509-SVIDs (repeatable)',
    add: addTrustDomain,
  },
  {
    flag: '--profile <profile>',
    help: `how the endpoint authenticates: ${ENDPOINT_PROFILES.join(' or ')} (repeatable; default: both)`,
    parse: parseProfile,
    repeatable: true,
  },
  { flag: '--listen-web <host:port>', help: 'address for https_web', listens: WEB_PORT },
  {
    flag: '--web-certificate <directory>',
    help: 'directory with tls.crt and tls.key for https_web; reloaded when they change',
    default: WEB_DIRECTORY,
  },
  { flag: '--listen-spiffe <host:port>', help: 'address for https_spiffe', listens: SPIFFE_PORT },
  {
    flag: '--svid <directory>',
    help: 'directory with tls.crt and tls.key for https_spiffe: an X509-SVID; reloaded when they change',
    default: SVID_DIRECTORY,
  },
  {
    flag: '--refresh-hint <duration>',
    help: 'refresh interval for other trust domains (default: a fifth of --propagation)',
    parse: parseDuration,
  },
];

/** @throws SignerError NAME_INVALID, SIGNER_NAME_INVALID or USAGE */
function addTrustDomain(
  before: ReadonlyMap<string, unknown>,
  text: string,
): ReadonlyMap<string, unknown> {
  const at = text.indexOf('=');
  if (at < 0)
    throw usageError('write a trust domain and its signers: prod.example.com=example.com/workload');
  const domain = checkTrustDomain(text.slice(0, at));
  if (before.has(domain))
    throw usageError(`${domain} is named twice; write all its signers into one flag`);
  const signers = new Set(text.slice(at + 1).split(','));
  for (const each of signers) checkSignerName(each);
  return new Map([...before, [domain, [...signers]]]);
}

/** @throws SignerError USAGE */
function parseProfile(text: string): EndpointProfile {
  const found = ENDPOINT_PROFILES.find((each) => each === text);
  if (found === undefined) throw usageError(`must be ${ENDPOINT_PROFILES.join(' or ')}`);
  return found;
}
