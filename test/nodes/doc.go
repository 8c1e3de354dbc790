// Package nodes runs three nodes on one PostgreSQL and one S3 server behind a balancer, and kills one of them again and again.
// Acknowledged writes must stay, every response must be correct, and clients must be able to continue.
package nodes
