// SPDX-License-Identifier: Apache-2.0
/** Texts of federation, by where users read them. */
import { formatDuration } from '#api/object/duration.ts';
import { quote } from '#base/quote.ts';

// Log

export const BUNDLE_WRITTEN = 'bundle of a foreign trust domain written';
export const SUSPICIOUS_BUNDLE = 'foreign trust domain: suspicious bundle';

export function bundleChange(kind: string): string {
  return `foreign trust domain: ${kind}`;
}

// Events, log and /readyz

export function ofTrustDomain(trustDomain: string, problem: string): string {
  return `trust domain ${trustDomain}: ${problem}`;
}

export function withReason(reason: string, message: string): string {
  return `${reason}: ${message}`;
}

export const FEDERATION_ENDED =
  'an administrator ended the federation: its SVIDs are no longer trusted';
export const NO_USABLE_KEY =
  'the trust domain has no usable key any more: all its SVIDs are invalid';

export function staleBundle(seconds: number): string {
  return `the endpoint has returned no valid bundle for ${formatDuration(seconds)} (--keep): this cluster no longer trusts its SVIDs`;
}

export const NO_ACCEPTABLE_CA = 'all its CAs belong to this installation or are distrusted';
export const OWN_ANCHOR_REMOVED =
  'OwnAnchor: a CA belongs to this installation or is distrusted: it is removed';

export function sharedAnchor(fingerprint: string, trustDomain: string): string {
  return `CA ${fingerprint} is in the bundle of ${trustDomain}, too: the owner of its key can impersonate both trust domains`;
}

/** @param found - the certificate, what is wrong, and the verifiers */
export function anchorRejected(found: string): string {
  return `${found}; ask the owner of the trust domain to publish its root (docs/reference/verifiers.md)`;
}

export function managedElsewhere(name: string, trustDomain: string): string {
  return `another writer owns ClusterTrustBundle ${name}: delete it, or annotate it with countersign.dev/trust-domain=${trustDomain}`;
}

// Failed fetches

/** @param secret - Secret from which the chart fills the directory */
export function unknownBundle(
  trustDomain: string,
  { file, secret, directory }: Readonly<Record<'file' | 'secret' | 'directory', string>>,
): string {
  return `no bundle of trust domain ${trustDomain} is known; write its current bundle, obtained over a secure channel, as ${file} into Secret ${secret} or, without the chart, into ${directory}`;
}

export function bootstrapFile(trustDomain: string): string {
  return `${trustDomain}.json or ${trustDomain}.pem`;
}

export function unreadableFile(trustDomain: string, fault: string): string {
  return `${trustDomain}.json: ${fault}`;
}

export function answerTimeout(seconds: number): string {
  return `no complete answer within ${seconds} s`;
}

export function notAnSvid(fault: string): string {
  return `the server's certificate is not an X509-SVID: ${fault}`;
}

export function wrongServer(id: string | undefined, endpointId: string): string {
  return `the server is ${quote(id ?? '', 100)}, not ${endpointId}`;
}

export function httpStatus(status: number, advice: string): string {
  return `the endpoint answered ${status}${advice}`;
}

export const REDIRECTS_REFUSED = '; redirects are not followed: name the URL itself';

export function contentEncoding(encoding: string): string {
  return `the answer has content encoding ${quote(encoding, 40)}, which was not requested`;
}

export function longAnswer(bytes: number): string {
  return `the answer is longer than ${bytes} bytes`;
}

export const NOT_UTF8 = 'the answer is not UTF-8';

// /readyz

export function unlistedSigners(failure: string | undefined): string {
  return `ClusterSigners: ${failure ?? 'not listed yet'}`;
}

export function unlistedBundles(failure: string | undefined): string {
  return `bundles: ${failure ?? 'not listed yet'}`;
}

export function orphanedDomain(trustDomain: string, bundle: string): string {
  return `trust domain ${trustDomain}: LeftOver: no component refreshes ClusterTrustBundle ${bundle} any more, but pods that mount it trust it: delete it, or name the trust domain in federation.endedTrustDomains (--ended-trust-domain)`;
}

export const BUNDLE_ENDPOINTS = 'bundle endpoints';

// Refused flags

export function endedAndFederated(domain: string): string {
  return `--ended-trust-domain names ${domain}, which --federate names, too; leave one of them out`;
}

export function tooManyDomains(count: number, max: number): string {
  return `--federate names ${count} trust domains; ${max} are the most`;
}

export function ownAndFederated(domain: string): string {
  return `--federate names ${domain}, which --own-trust-domain names, too: a foreign bundle never replaces your own`;
}

export function federatedTwice(domain: string): string {
  return `--federate names ${domain} twice; leave one of them out`;
}
