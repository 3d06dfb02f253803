// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import * as z from 'zod';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import { isObjectName } from './check-names.ts';
import { fields } from './kubernetes-fields.ts';

/** A trust domain in a URL or a flag, without characters that end an argument or a name. */
const name = z
  .string()
  .max(243)
  .regex(/^[a-z0-9.-]*$/);
const MAX_URL_LENGTH = 2000;
const MAX_ID = 2048;

const trustDomain = z.strictObject({
  name: name.describe('The trust domain, such as `partner.example`.'),
  profile: z.enum(['https_web', 'https_spiffe']).describe('How its bundle endpoint authenticates.'),
  url: z
    .string()
    .max(MAX_URL_LENGTH)
    .regex(/^https:\/\/[!#-[\]-z|~]+$/)
    .describe('The URL of its bundle endpoint.'),
  serverId: z
    .string()
    .max(MAX_ID)
    .regex(/^spiffe:\/\/[a-z0-9._-]+(\/[A-Za-z0-9._-]+)+$/)
    .exactOptional()
    .describe('The SPIFFE ID of the endpoint, for `https_spiffe`.'),
});

const SIGNER = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/[a-z0-9](?:[-a-z0-9./]*[a-z0-9])?)?$/;

/** Value `bundleEndpoint`. */
export const bundleEndpoint = z
  .strictObject({
    svidSigner: z
      .string()
      .max(MAX_SIGNER_NAME)
      .regex(SIGNER)
      .describe(
        'Signer of the X509-SVID of the port for `https_spiffe`: a `podCertificate` volume has it, and the kubelet renews it. If empty, you fill Secret `countersign-bundle-endpoint-svid`.',
      ),
  })
  .describe(
    'How `components.bundle-endpoint` authenticates, if it is enabled: docs/how-to/federate.md.',
  );

/** Value `federation`. */
export const federation = z
  .strictObject({
    trustDomains: z
      .array(trustDomain)
      .max(64)
      .describe('Foreign trust domains. Each gets the ClusterTrustBundle `federated.<name>`.'),
    endedTrustDomains: z
      .array(name)
      .max(64)
      .describe(
        'Trust domains that are not federated with any more: their bundles are deleted. Leave one here until that has happened.',
      ),
    ownTrustDomains: z
      .array(name)
      .describe('Your own trust domains, which no foreign bundle may claim.'),
    networks: z
      .array(z.string().regex(/^[0-9a-f.:]+(\/[0-9]{1,3})?$/))
      .describe(
        'Networks that endpoints may be in although they are no part of the Internet, such as `10.0.0.0/8`.',
      ),
    keep: z
      .string()
      .regex(/^[0-9]+[smhd]$/)
      .describe('How long to keep a bundle while its endpoint returns no valid one.'),
    egress: z
      .array(fields)
      .describe(
        'Destinations that `federation` may call (networking/v1 NetworkPolicyEgressRule): DNS, the API server, the endpoints. If empty, no policy limits it.',
      ),
  })
  .describe(
    'Foreign trust domains whose SPIFFE bundles `components.federation` fetches, where it is enabled. Files that it needs are in Secret `countersign-federation-files`, which you make in the namespace of the components.',
  );

type FederationValues = z.infer<typeof federation>;

/** Returns the trust domains whose bundles `federation` may write, including those that end. */
export function federatedDomains({
  trustDomains,
  endedTrustDomains,
}: FederationValues): readonly string[] {
  return [...trustDomains.map((each) => each.name), ...endedTrustDomains];
}

/**
 * Returns the arguments for these values. The chart's helper `countersign.federationArgs` returns
 * the same.
 */
export function federationArguments(values: FederationValues): readonly string[] {
  const { trustDomains, endedTrustDomains, ownTrustDomains, networks, keep } = values;
  return [
    ...trustDomains.map(
      ({ name: domain, profile, serverId, url }) =>
        `--federate=${[domain, profile, ...(serverId === undefined ? [] : [serverId]), url].join(',')}`,
    ),
    ...endedTrustDomains.map((each) => `--ended-trust-domain=${each}`),
    ...ownTrustDomains.map((each) => `--own-trust-domain=${each}`),
    ...networks.map((each) => `--federation-network=${each}`),
    `--keep=${keep}`,
  ];
}

/**
 * Checks what a JSON schema cannot express. build/chart/_checks-federation.tpl rejects the same
 * values with the same messages.
 *
 * @throws SignerError USAGE (`fail`)
 */
export function checkFederation(values: FederationValues): void {
  const { trustDomains, endedTrustDomains, ownTrustDomains } = values;
  for (const [index, domain] of endedTrustDomains.entries()) {
    const at = `federation.endedTrustDomains[${index}]`;
    if (!isObjectName(domain))
      throw usageError(
        `${at}: "${domain}" is not the name of a trust domain; write it without spiffe://, such as partner.example`,
      );
    if (trustDomains.some((each) => each.name === domain))
      throw usageError(
        `${at}: "${domain}" is in federation.trustDomains, too; leave one of them out`,
      );
  }
  for (const [index, { name: domain, profile, serverId }] of trustDomains.entries()) {
    const at = `federation.trustDomains[${index}]`;
    if (!isObjectName(domain))
      throw usageError(
        `${at}.name: "${domain}" is not the name of a trust domain; write it without spiffe://, such as partner.example`,
      );
    if (ownTrustDomains.includes(domain))
      throw usageError(`${at}.name: "${domain}" is your own trust domain; leave one of them out`);
    if (trustDomains.findIndex((each) => each.name === domain) !== index)
      throw usageError(`${at}.name: "${domain}" is named twice; leave one of them out`);
    if ((profile === 'https_spiffe') !== (serverId !== undefined))
      throw usageError(
        `${at}.serverId: write the SPIFFE ID of the endpoint where profile is https_spiffe, and none where it is https_web`,
      );
  }
}
