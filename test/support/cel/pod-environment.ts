// SPDX-License-Identifier: Apache-2.0
import { podEnvironment } from '#cel/environments.ts';

/** Of a spec that asks for nothing but the request. */
export const POD = podEnvironment();
