# The static program and nothing else: docker build -t curtail . && docker run -i curtail limit -t 8k < chat.jsonl
FROM rust:1.95-alpine AS build
RUN apk add --no-cache gcc make musl-dev perl
WORKDIR /src
COPY . .
RUN cargo build --release --locked

FROM scratch
COPY --from=build /src/target/release/curtail /curtail
COPY LICENSE-MIT LICENSE-APACHE /
WORKDIR /data
ENTRYPOINT ["/curtail"]
