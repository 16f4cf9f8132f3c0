// What the signals of schemas, phrases and company weigh for Read, Write, Execute, Destructive, Financial: learnt, not
// written. `npm run eval -- catalogue --data FILE --labels FILE --write` makes this file.

export const WEIGHTS_OF_THE_REST = `
acts:Destructive                    -0.06  -0.12  -0.21   1.86   0.03
acts:Execute                         0.21  -0.17   1.38  -0.02   0.09
acts:Financial                       0.00   0.00   0.00   0.00   1.50
acts:Read                            1.52   0.02  -0.03  -0.01   0.00
acts:Write                          -0.19   1.47   0.15   0.09  -0.02
arg.deep:money                      -0.03  -0.32  -0.01  -0.03   0.39
arg:method                          -0.06  -0.19  -0.05   0.30  -0.01
arg:money                           -0.10  -0.03  -0.13  -0.12   0.89
arg:paging                           0.11  -0.09  -0.06   0.18  -0.14
arg:payload                         -0.47   0.47  -0.08  -0.07   0.15
arg:program                         -0.04   0.22   0.75   0.09  -0.01
arg:query                            0.15  -0.04  -0.05  -0.01  -0.04
arg:rehearsal                       -0.04  -0.22   0.25   0.03  -0.02
arg:saves                           -0.34   0.47  -0.05  -0.04  -0.03
arg:screen                           0.18  -0.21   0.20  -0.13  -0.04
arg:sql                              0.00   0.00   1.00   0.00   0.00
arg:worst                           -0.15   0.12   0.00   0.10  -0.06
args:none                            0.23  -0.21   0.03  -0.03  -0.02
args:only an id                     -0.01  -0.17   0.06   0.21  -0.09
bias                                 0.52   0.29  -0.41   0.29  -0.70
changes a price                     -0.01  -0.38  -0.01  -0.03   2.93
choice:Destructive                  -0.14  -0.28  -0.25   2.70  -0.03
choice:Execute                      -0.16  -0.06   2.21  -0.07   0.08
choice:Financial                     0.00  -0.01   0.00   0.00   2.01
choice:Read                          2.05  -0.01  -0.03   0.00   0.00
choice:Write                        -0.25   1.90   0.17   0.19  -0.01
deal with money:name.near           -0.01   0.08  -0.02  -0.02   0.47
deal with money:name.object         -0.02  -0.33  -0.10  -0.05   2.50
deal with money:text.near           -0.02  -0.08  -0.09  -0.04   0.74
deal with money:text.object         -0.01  -0.12  -0.02  -0.02   1.66
mode:Destructive                    -0.02  -0.16  -0.01   1.19  -0.01
mode:Execute                         0.00   0.02   1.00  -0.01   0.00
mode:Financial                       0.00   0.00   0.00   0.00   1.00
mode:Read                            1.00   0.00   0.00   0.00   0.00
mode:Write                           0.09   0.87  -0.01   0.06  -0.01
pictures a screen                    3.01  -0.01   0.00   0.00   0.00
says:changes data                   -0.05   0.04   0.11  -0.09  -0.02
says:from the trash                  0.00   2.53   0.00  -0.02   0.00
says:gone for good                  -0.01  -0.38   0.00   1.91  -0.01
says:money moves                     0.00  -0.02   0.00   0.00   3.02
says:only reads                      1.02  -0.04  -0.12   0.14  -0.01
says:replaces the whole             -0.06  -0.44  -0.05   0.59  -0.04
says:restores over                  -0.01  -0.22   0.00   2.23   0.00
says:runs anything                  -0.08   0.07   0.96   0.10  -0.06
says:to the trash                    0.00   2.52   0.00  -0.02   0.00
server:money                        -0.04  -0.47  -0.13  -0.10   0.74
server:screen                        0.10  -0.64   1.56   0.04  -0.06
`
