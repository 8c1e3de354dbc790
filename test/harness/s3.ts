// Fresh buckets on a real S3 server for tests, from the program that the Go tests use too.
import { addressesFrom } from "./addresses.ts";

const servers = addressesFrom("./test/s3");

/** The address of a new bucket, for ATELIE_STORAGE_URL. The server behind it starts with the first call. */
export const freshBucket = servers.fresh;

/** Stops the S3 server of this process, if one was started. */
export const stopS3 = servers.stop;
