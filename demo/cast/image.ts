// SPDX-License-Identifier: Apache-2.0

/** The parts of an image reference, as the chart's values have them. */
export interface ImageParts {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/**
 * Splits `[registry[:port]/]name[:tag][@digest]`. A colon in the registry is that of its port.
 * Without tag and digest the tag is `latest`, as for the kubelet.
 */
export function imageParts(image: string): ImageParts {
  const [named = '', digest = ''] = image.split('@');
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const repository = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? '' : named.slice(colon + 1);
  return { repository, tag: tag === '' && digest === '' ? 'latest' : tag, digest };
}
