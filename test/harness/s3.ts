// Makes new buckets on a real S3 server for tests, with the program test/s3, which uses the same code as the Go tests.
import { addressesFrom } from "./addresses.ts";

const servers = addressesFrom("s3");

/** Returns the URL of a new bucket, for ATELIE_STORAGE_URL. The first call starts the S3 server. */
export const freshBucket = servers.fresh;

/** Stops the S3 server of this process, if one was started. */
export const stopS3 = servers.stop;
