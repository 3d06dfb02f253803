// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage, RequestListener } from 'node:http';
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import { serveTls, type HttpsServer, type TlsInit } from '#component/web/https-server.ts';
import { sendShort, type ShortAnswer } from '#component/web/server.ts';
import { svidFault } from '../spiffe/svid.ts';
import { ENDPOINT_PROFILES, type EndpointFlags, type EndpointProfile } from './flags.ts';
import * as messages from './messages.ts';

/** The ports of a bundle endpoint. */
export interface EndpointPorts {
  /** Port numbers by profile. */
  readonly ports: ReadonlyMap<EndpointProfile, number>;
  warnings(): readonly string[];
  /** Serves until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Dependencies of the ports. */
export interface EndpointPortsInit extends Pick<TlsInit, 'clock' | 'delay' | 'log'> {
  /** Returns a bundle as JSON, or undefined if it is not available now. */
  readonly documentOf: (trustDomain: string) => string | undefined;
  readonly onAnswered: (profile: EndpointProfile, status: number) => void;
  /** Called with the expiry of the certificate in use, in Unix seconds. */
  readonly onCertificate: (profile: EndpointProfile, notAfter: number) => void;
}

/** Connections at most. Consumers poll every few minutes, each on its own connection. */
const MAX_SERVER_CONNECTIONS = 1_024;

/**
 * Opens the public port of each profile (SPIFFE Federation §5.2.1.3, §5.2.2.3), which serves GET of
 * `/<trust domain>/bundle.json`.
 * @throws SignerError USAGE if one cannot be opened
 */
export async function openEndpointPorts(
  options: EndpointFlags,
  init: EndpointPortsInit,
): Promise<EndpointPorts> {
  const profiles = options.profile.length === 0 ? ENDPOINT_PROFILES : new Set(options.profile);
  const servers = new Map<EndpointProfile, HttpsServer>();
  for (const profile of profiles) {
    const listener = listenerOf(options, profile, init);
    servers.set(profile, await serveTls(tlsOf(options, profile, init), listener));
  }
  return {
    ports: new Map([...servers].map(([profile, { port }]) => [profile, port])),
    warnings: () =>
      [...servers].flatMap(([profile, server]) =>
        server.warnings().map((each) => `${profile}: ${each}`),
      ),
    run: async (signal) => {
      await Promise.all([...servers.values()].map((each) => each.run(signal)));
    },
  };
}

function tlsOf(
  options: EndpointFlags,
  profile: EndpointProfile,
  { clock, delay, log, onCertificate }: EndpointPortsInit,
): TlsInit {
  const { listenWeb, webCertificate, listenSpiffe, svid } = options;
  const common = {
    clock,
    delay,
    log,
    maxConnections: MAX_SERVER_CONNECTIONS,
    clients: 'intermediate',
    measureNotAfter: (seconds: number) => {
      onCertificate(profile, seconds);
    },
  } as const;
  return profile === 'https_web'
    ? { ...common, listen: listenWeb, flag: '--listen-web', directory: webCertificate }
    : {
        ...common,
        listen: listenSpiffe,
        flag: '--listen-spiffe',
        directory: svid,
        refuse: refuseSvid,
      };
}

/** Returns the fault of a certificate that consumers would reject. */
function refuseSvid(pem: string): string | undefined {
  const [leaf] = certificateBlocks(pem);
  if (leaf === undefined) return messages.NO_CERTIFICATE_IN_FILE;
  const certificate = attempt(() => decodeCertificate(leaf));
  const fault = certificate instanceof SignerError ? certificate.message : svidFault(certificate);
  return fault === undefined ? undefined : messages.notAnSvid(fault);
}

const PATH = /^\/(?<domain>[a-z0-9._-]{1,255})\/bundle\.json$/;
const NOT_FOUND: ShortAnswer = { status: 404, body: 'not found\n' };

function listenerOf(
  { trustDomain }: EndpointFlags,
  profile: EndpointProfile,
  { documentOf, onAnswered }: EndpointPortsInit,
): RequestListener {
  return (request, response) => {
    const domain = domainIn(request);
    const isServed = domain !== undefined && trustDomain.has(domain);
    const answer = isServed ? answerTo(request, documentOf(domain)) : NOT_FOUND;
    sendShort(request, response, answer);
    onAnswered(profile, answer.status);
  };
}

function domainIn({ url = '' }: IncomingMessage): string | undefined {
  const [path = ''] = url.split('?', 1);
  return PATH.exec(path)?.groups?.['domain'];
}

function answerTo({ method }: IncomingMessage, document: string | undefined): ShortAnswer {
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, body: 'method not allowed\n', headers: { allow: 'GET, HEAD' } };
  if (document === undefined)
    return { status: 503, body: 'not available\n', headers: { 'retry-after': '60' } };
  return { status: 200, body: document, headers: { 'content-type': 'application/json' } };
}
