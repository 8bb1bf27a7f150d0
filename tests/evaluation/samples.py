"""Published scores and differences whose tests are worked out in print."""

import numpy as np

# Sakai, Laboratory Experiments in Information Retrieval (2018): three systems on 20 topics.
SAKAI = np.fromstring(
    """
    .4695 .2813 .3914 .6884 .6121 .3266 .5605 .5916 .4385 .5821
    .2871 .5186 .5188 .5019 .4702 .3290 .4758 .3028 .3752 .2796
    .3732 .3783 .3868 .5896 .4725 .2330 .4328 .5073 .3889 .5551
    .3274 .5066 .5198 .4981 .3878 .4387 .4946 .3400 .4895 .2335
    .3575 .2435 .3167 .6024 .4766 .2429 .4066 .4707 .3384 .4597
    .2769 .4066 .3859 .4568 .3437 .2649 .4045 .3253 .3205 .2240
    """,
    sep=" ",
).reshape(3, 20)

# Darwin's maize, as tested by Fisher (1935): crossed minus self-fertilised, eighths of an inch.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])

# Student's sleep (1908): extra hours under the first drug minus those under the second.
SLEEP = np.array([-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4])

# Tague (1981): ten differences with two that outweigh the rest.
TAGUE = np.array([0.11, 0.01, 0.01, -0.02, 0.02, 0.47, 0.11, -0.01, 0.01, -0.07])
