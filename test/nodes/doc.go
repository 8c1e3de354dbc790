// Package nodes runs three nodes on one PostgreSQL and one S3 server behind a balancer, and kills one of them again and
// again: what was acknowledged must stay, every answer must be right, and clients must come back (spec §8).
package nodes
